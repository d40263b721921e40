import { describe, expect, test } from '@jest/globals'
import { linesOf } from '../../src/submission/target-file.ts'

const read = async (...chunks: (string | Buffer)[]): Promise<string[]> => {
  const source = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk)
  })()
  const lines: string[] = []
  for await (const { first, texts } of linesOf(source)) {
    expect(first).toBe(lines.length + 1)
    lines.push(...texts)
  }
  return lines
}

describe('lines of a stream', () => {
  test('the lines are the same for all chunk sizes', async () => {
    const bytes = Buffer.from('ä.example\r\nb.example\n\nlast')
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual([
        'ä.example\r',
        'b.example',
        '',
        'last',
      ])
  })

  test('a byte order mark at the beginning is removed', async () => {
    expect(await read('\uFEFFa\nb\n')).toEqual(['a', 'b'])
  })

  test('invalid UTF-8 is refused with the number of its line', async () => {
    await expect(read('a\nb\n', Buffer.from([0x63, 0xff, 0x0a]), 'd\n')).rejects.toMatchObject({
      code: 'invalid_target',
      details: [{ path: '/target_file', message: 'line 3 is not valid UTF-8' }],
    })
    await expect(read('a\nb', Buffer.from([0xc3]))).rejects.toMatchObject({
      details: [{ path: '/target_file', message: 'line 2 is not valid UTF-8' }],
    })
  })

  test('an endless line is refused before it fills the memory', async () => {
    await expect(read('a\n', 'x'.repeat(70_000))).rejects.toMatchObject({
      details: [{ path: '/target_file', message: 'line 2 is longer than 65536 bytes' }],
    })
  })
})
