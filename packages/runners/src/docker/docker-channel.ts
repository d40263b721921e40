import { Duplex } from 'node:stream'
import type { Piece, ShellChannel } from '../shell/lane.ts'
import { Demux } from './demux.ts'

/** The connection that an attach or exec call was turned into. */
export class DockerChannel implements ShellChannel {
  readonly pieces: AsyncIterable<Piece>
  readonly #socket: Duplex

  constructor(socket: NodeJS.ReadWriteStream) {
    if (!(socket instanceof Duplex)) throw new TypeError('the engine gave no connection of its own')
    this.#socket = socket
    // Its end or failure shows in `pieces`; without a listener a failure in between would end the program.
    socket.on('error', () => {})
    this.pieces = demultiplex(socket)
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

async function* demultiplex(socket: Duplex): AsyncGenerator<Piece> {
  const demux = new Demux()
  for await (const chunk of socket) if (Buffer.isBuffer(chunk)) yield* demux.pieces(chunk)
}
