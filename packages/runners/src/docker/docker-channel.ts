import { Duplex } from 'node:stream'
import type { ShellChannel, StreamChunk } from '../shell/shell-session.ts'

const HEADER_BYTES = 8
const STDERR = 2

/** The hijacked connection of an attach or exec call. */
export class DockerChannel implements ShellChannel {
  readonly chunks: AsyncIterable<StreamChunk>
  readonly #socket: Duplex

  constructor(socket: NodeJS.ReadWriteStream) {
    if (!(socket instanceof Duplex)) throw new TypeError('the docker engine did not hijack the connection')
    this.#socket = socket
    // `chunks` reports the end or failure; without a listener an error in between would end the program.
    socket.on('error', () => {})
    this.chunks = demultiplex(socket)
  }

  write(text: string): void {
    this.#socket.write(text)
  }

  end(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }
}

async function* demultiplex(socket: Duplex): AsyncGenerator<StreamChunk> {
  const demux = new Demultiplexer()
  for await (const chunk of socket) if (Buffer.isBuffer(chunk)) yield* demux.chunks(chunk)
}

/**
 * Splits the engine's stream into stdout and stderr. A frame is one byte for the stream, three unused bytes, a length,
 * and as many bytes. The received part of a frame is passed on without waiting for the rest and without copying.
 */
export class Demultiplexer {
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  #left = 0

  chunks(chunk: Buffer): StreamChunk[] {
    const chunks: StreamChunk[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#left === 0) at += this.#readHeader(chunk, at)
      const bytes = chunk.subarray(at, at + this.#left)
      at += bytes.length
      this.#left -= bytes.length
      if (bytes.length > 0) chunks.push({ stream: this.#header[0] === STDERR ? 'stderr' : 'stdout', bytes })
    }
    return chunks
  }

  /** Sets `#left` to the length of the frame once the header is complete. */
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
