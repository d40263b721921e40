import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 20

const tryBind = async (path: string): Promise<AsyncDisposable | undefined> => {
  const waiting = new Set<Socket>()
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    socket.on('error', () => undefined).on('close', () => waiting.delete(socket))
  })
  try {
    server.listen({ path })
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw error
  }
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of waiting) socket.destroy()
      await closed
    },
  }
}

/** Waits until the holder's socket closes: the kernel closes it when the holder releases the lock, exits or is killed. */
const waitForHolder = async (path: string, limitMs: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ path })
  const timer = setTimeout(resolve, limitMs)
  socket.on('error', () => undefined).on('close', () => resolve())
  socket.resume()
  await promise
  clearTimeout(timer)
  socket.destroy()
}

/**
 * A lock between processes of one machine: an abstract Unix socket, which needs no file. It cannot become stale, because
 * the kernel releases it when its process exits. Rejects if the lock is not free within `limitMs`.
 */
export const lockMachine = async (name: string, limitMs: number): Promise<AsyncDisposable> => {
  const path = `\0scanfarm-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  const until = performance.now() + limitMs
  for (;;) {
    const lock = await tryBind(path)
    if (lock) return lock
    const left = until - performance.now()
    if (left <= 0)
      throw new Error(`another process has held the lock of ${name} for ${limitMs} ms: stop it and try again`)
    await waitForHolder(path, left)
    await sleep(Math.random() * RETRY_MS)
  }
}
