import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

const LOOPBACK = '127.0.0.1'

const bind = async (port: number): Promise<number | undefined> => {
  const server = createServer()
  try {
    server.listen(port, LOOPBACK)
    await once(server, 'listening')
  } catch {
    return undefined
  }
  const { port: bound } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return bound
}

/** A free port of the loopback address: the preferred one, if it is free. */
export const freePort = async (preferred = 0): Promise<number> => {
  const port = (await bind(preferred)) ?? (await bind(0))
  if (port === undefined) throw new Error(`no port of ${LOOPBACK} is free`)
  return port
}
