import { describe, expect, test } from '@jest/globals'
import { StatusScanner } from '../src/shell/status-scanner.ts'
import { Demultiplexer } from '../src/docker/docker-channel.ts'

const NONCE = '\x1e0123456789abcdef'

/** Scans the text in chunks of a size. */
function scan(text: string, size: number): { output: string; words: string[] } {
  const scanner = new StatusScanner(NONCE)
  const bytes = Buffer.from(text)
  const found = { output: '', words: [] as string[] }
  for (let at = 0; at < bytes.length; at += size) {
    for (const piece of scanner.scan(bytes.subarray(at, at + size))) {
      if ('output' in piece) found.output += piece.output.toString('latin1')
      else found.words.push(piece.words.join(' '))
    }
  }
  return found
}

describe('status lines of a shell session', () => {
  test.each([1, 2, 3, 7, 16, 17, 18, 1000])(
    'are separated from the output of the program in chunks of %i bytes',
    (size) => {
      const almost = NONCE.slice(0, 10)
      expect(scan(`${NONCE} started 12\nhello ${almost} and\x1e\n${almost}${NONCE} end 0 0\n`, size)).toEqual(
        { output: `hello ${almost} and\x1e\n${almost}`, words: ['started 12', 'end 0 0'] },
      )
    },
  )

  test('are refused if they are too long', () => {
    const scanner = new StatusScanner(NONCE)
    expect(() => scanner.scan(Buffer.from(NONCE + 'x'.repeat(1_000)))).toThrow('longer than')
  })
})

describe('the stream of a docker engine', () => {
  const frame = (stream: number, text: string): Buffer => {
    const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
    header.writeUInt32BE(Buffer.byteLength(text), 4)
    return Buffer.concat([header, Buffer.from(text)])
  }

  test.each([1, 3, 8, 9, 1000])('is split into stdout and stderr in chunks of %i bytes', (size) => {
    const demux = new Demultiplexer()
    const bytes = Buffer.concat([frame(1, 'out one '), frame(2, 'err'), frame(1, ''), frame(1, 'out two')])
    const said = { stdout: '', stderr: '' }
    for (let at = 0; at < bytes.length; at += size) {
      for (const piece of demux.chunks(bytes.subarray(at, at + size)))
        said[piece.stream] += piece.bytes.toString()
    }
    expect(said).toEqual({ stdout: 'out one out two', stderr: 'err' })
  })

  test('is split without copying, wherever the chunks begin', () => {
    const line = frame(1, 'a short line\n')
    const chunk = Buffer.concat(Array.from({ length: 4_000 }, () => line))
    const demux = new Demultiplexer()
    let bytes = 0
    for (const [from, to] of [
      [0, 5],
      [5, 50_000],
      [50_000, 50_003],
      [50_003, undefined],
    ] as const)
      for (const piece of demux.chunks(chunk.subarray(from, to))) {
        // As few bytes as came are touched, so that the time is proportional to the length.
        if (piece.bytes.buffer !== chunk.buffer) throw new Error('a piece was copied')
        bytes += piece.bytes.length
      }
    expect(bytes).toBe(4_000 * 13)
  })
})
