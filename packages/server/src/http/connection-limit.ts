import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup } from './address-group.ts'

export interface ConnectionLimits {
  readonly total: number
  readonly perAddress: number
  /** True for proxies, behind which there are many clients. */
  readonly isProxy: (address: string) => boolean
}

/** Closes connections beyond the bounds. When the server is full, connections without a request make room. */
export const limitConnections = (server: Server, { total, perAddress, isProxy }: ConnectionLimits): void => {
  const byAddress = new Map<string, number>()
  server.maxConnections = total
  server.on('drop', () => server.closeIdleConnections())
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    if (isProxy(remoteAddress)) return
    const key = addressGroup(remoteAddress)
    const count = (byAddress.get(key) ?? 0) + 1
    if (count > perAddress) return void socket.destroy()
    byAddress.set(key, count)
    socket.once('close', () => {
      const left = (byAddress.get(key) ?? 1) - 1
      if (left > 0) byAddress.set(key, left)
      else byAddress.delete(key)
    })
  })
}
