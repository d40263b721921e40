import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { farm } from './attacked-farm.ts'

/** A connection below HTTP, for requests that no client library sends. */
export async function connectRaw(): Promise<Socket> {
  const { hostname, port } = new URL(farm.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Sends the bytes and returns all that the server sends until it closes the connection or sends nothing for `quietMs`. */
export async function exchange(bytes: string | Buffer, quietMs = 500): Promise<string> {
  const socket = await connectRaw()
  const chunks: Buffer[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.setTimeout(quietMs, resolve)
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('close', () => resolve())
  socket.write(bytes)
  await promise
  socket.destroy()
  return Buffer.concat(chunks).toString('latin1')
}

/** Whether the server closes all of the sockets within the time. */
export async function allClosed(sockets: readonly Socket[], limitMs: number): Promise<boolean> {
  const open = new Set(sockets.filter(({ destroyed }) => !destroyed))
  for (const socket of open) {
    socket.resume()
    socket.once('close', () => open.delete(socket))
  }
  const deadline = Date.now() + limitMs
  while (open.size > 0 && Date.now() < deadline) await delay(100)
  return open.size === 0
}

/** Status codes in the result of `exchange`. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
