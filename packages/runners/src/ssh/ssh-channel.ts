import type { OutputStream } from '@scanfarm/contracts'
import type { ClientChannel } from 'ssh2'
import type { Piece, ShellChannel } from '../shell/lane.ts'
import { settlesWithin } from '../stop-watch.ts'

/** A connection's channels end shortly before it is known to be gone. */
const GONE_MS = 200

/** A shell at the other end of a channel. */
export class SshChannel implements ShellChannel {
  readonly pieces: AsyncIterable<Piece>
  readonly #channel: ClientChannel

  /** `gone`: settles with the reason when the connection is gone. */
  constructor(channel: ClientChannel, gone: Promise<string>) {
    this.#channel = channel
    channel.on('error', () => {})
    channel.stderr.on('error', () => {})
    this.pieces = merge(channel, gone)
  }

  write(text: string): void {
    if (!this.#channel.writableEnded) this.#channel.write(text)
  }

  end(): void {
    this.#channel.end()
  }

  close(): void {
    this.#channel.close()
  }
}

/** Both streams as they come; neither is read while the reader is busy. Throws why the connection is gone. */
async function* merge(channel: ClientChannel, gone: Promise<string>): AsyncGenerator<Piece> {
  const streams = { stdout: channel, stderr: channel.stderr }
  const queue: Piece[] = []
  let wake = Promise.withResolvers<void>()
  let closed = false
  const take = (stream: OutputStream) => (bytes: Buffer) => {
    queue.push({ stream, bytes })
    for (const each of Object.values(streams)) each.pause()
    wake.resolve()
  }
  streams.stdout.on('data', take('stdout'))
  streams.stderr.on('data', take('stderr'))
  channel.once('close', () => {
    closed = true
    wake.resolve()
  })
  for (;;) {
    for (let piece = queue.shift(); piece !== undefined; piece = queue.shift()) yield piece
    if (closed && (await settlesWithin(gone, GONE_MS))) throw new Error(await gone)
    if (closed) return
    wake = Promise.withResolvers<void>()
    for (const each of Object.values(streams)) each.resume()
    await wake.promise
  }
}
