import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'

/** Below those that systems give to outgoing connections and to servers that name no port. */
const [LOWEST, HIGHEST] = [20_000, 32_000]
const MOST_TRIES = 100
const given = new Set<number>()

/** Returns a free port of the loopback address, each once. The system gives it to no other program by itself. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error(`none of ${MOST_TRIES} ports between ${LOWEST} and ${HIGHEST} is free`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** Lets a server listen on a free port, and resolves to it. */
export const listen = async (
  server: { listen(port: number, host: string): Server },
  host = '127.0.0.1',
): Promise<number> => {
  const listening = server.listen(0, host)
  await once(listening, 'listening')
  // A server that listens on a port always has this type.
  return (listening.address() as AddressInfo).port
}
