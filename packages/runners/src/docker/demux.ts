import type { Piece } from '../shell/lane.ts'

const HEADER_BYTES = 8
const STDERR = 2

/**
 * Takes apart the stream in which the engine sends stdout and stderr: frames of one byte for the stream, three unused
 * ones, a length and as many bytes. Passes on what has come of a frame without waiting for the rest, and copies nothing.
 */
export class Demux {
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  #left = 0

  pieces(chunk: Buffer): Piece[] {
    const pieces: Piece[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#left === 0) at += this.#readHeader(chunk, at)
      const bytes = chunk.subarray(at, at + this.#left)
      at += bytes.length
      this.#left -= bytes.length
      if (bytes.length > 0) pieces.push({ stream: this.#header[0] === STDERR ? 'stderr' : 'stdout', bytes })
    }
    return pieces
  }

  /** Leaves the length of the frame in `#left` once the header is complete. */
  #readHeader(chunk: Buffer, from: number): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, from, from + HEADER_BYTES - this.#headerBytes)
    this.#headerBytes += taken
    if (this.#headerBytes === HEADER_BYTES) {
      this.#left = this.#header.readUInt32BE(4)
      this.#headerBytes = 0
    }
    return taken
  }
}
