import type { OutputStream } from '@scanfarm/contracts'
import type { ClientChannel } from 'ssh2'
import type { StreamChunk, ShellChannel } from '../shell/shell-session.ts'
import { settlesWithin } from '@scanfarm/platform'

/** Channels end shortly before the connection reports its end. */
const GONE_MS = 200

/** A shell on the other side of an ssh channel. */
export class SshChannel implements ShellChannel {
  readonly chunks: AsyncIterable<StreamChunk>
  readonly #channel: ClientChannel

  /** `gone`: settles with the reason when the connection has ended. */
  constructor(channel: ClientChannel, gone: Promise<string>) {
    this.#channel = channel
    channel.on('error', () => {})
    channel.stderr.on('error', () => {})
    this.chunks = merge(channel, gone)
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

/** Both streams in the order of arrival; neither is read while the reader is busy. Throws when the connection ends. */
async function* merge(channel: ClientChannel, gone: Promise<string>): AsyncGenerator<StreamChunk> {
  const streams = { stdout: channel, stderr: channel.stderr }
  const queue: StreamChunk[] = []
  let changed = Promise.withResolvers<void>()
  let closed = false
  const enqueue = (stream: OutputStream) => (bytes: Buffer) => {
    queue.push({ stream, bytes })
    for (const each of Object.values(streams)) each.pause()
    changed.resolve()
  }
  streams.stdout.on('data', enqueue('stdout'))
  streams.stderr.on('data', enqueue('stderr'))
  channel.once('close', () => {
    closed = true
    changed.resolve()
  })
  for (;;) {
    for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) yield chunk
    if (closed && (await settlesWithin(gone, GONE_MS))) throw new Error(await gone)
    if (closed) return
    changed = Promise.withResolvers<void>()
    for (const each of Object.values(streams)) each.resume()
    await changed.promise
  }
}
