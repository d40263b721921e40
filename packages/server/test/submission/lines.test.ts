import { describe, expect, test } from '@jest/globals'
import { linesOf } from '../../src/submission/lines.ts'

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
  test('are the same however the bytes are cut', async () => {
    const bytes = Buffer.from('ä.example\r\nb.example\n\nlast')
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual([
        'ä.example\r',
        'b.example',
        '',
        'last',
      ])
  })

  test('lose a byte order mark at the beginning', async () => {
    expect(await read('\uFEFFa\nb\n')).toEqual(['a', 'b'])
  })

  test('that are not UTF-8 are refused with their number', async () => {
    await expect(read('a\nb\n', Buffer.from([0x63, 0xff, 0x0a]), 'd\n')).rejects.toMatchObject({
      code: 'invalid_target',
      details: [{ path: '/target_file', message: 'line 3 is not valid UTF-8' }],
    })
    await expect(read('a\nb', Buffer.from([0xc3]))).rejects.toMatchObject({
      details: [{ path: '/target_file', message: 'line 2 is not valid UTF-8' }],
    })
  })

  test('that never end are refused before they fill the memory', async () => {
    await expect(read('a\n', 'x'.repeat(70_000))).rejects.toMatchObject({
      details: [{ path: '/target_file', message: 'line 2 is longer than 65536 bytes' }],
    })
  })
})
