import { createHash } from 'node:crypto'
import type { StoredObject } from '@scanfarm/contracts'

/** Measures a stream. Call `result` once, after the end of the stream. */
export interface Meter {
  through(source: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer>
  result(): StoredObject
}

export function createMeter(): Meter {
  const hash = createHash('sha256')
  let size = 0
  return {
    async *through(source) {
      for await (const piece of source) {
        const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece
        hash.update(chunk)
        size += chunk.length
        yield chunk
      }
    },
    result: () => ({ size, sha256: hash.digest('hex') }),
  }
}
