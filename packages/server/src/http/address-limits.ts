import type { Server } from 'node:http'
import { isIPv6, type Socket } from 'node:net'

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const NETWORK_GROUPS = 4

/** The key of per-address limits: an IPv4 address, or the /64 network of IPv6, which a single host controls. */
export const addressGroup = (address: string): string => {
  const mapped = MAPPED.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [head = '', tail] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** Limits the bytes in memory at the same time, in total and for each key. */
export class ByteBudget {
  readonly #total: number
  readonly #each: number
  readonly #byKey = new Map<string, number>()
  #used = 0

  constructor(total: number, each: number) {
    this.#total = total
    this.#each = each
  }

  /** Returns false, and takes nothing, if the limit would be exceeded. */
  take(key: string, bytes: number): boolean {
    const used = this.#byKey.get(key) ?? 0
    if (this.#used + bytes > this.#total || used + bytes > this.#each) return false
    this.#used += bytes
    this.#byKey.set(key, used + bytes)
    return true
  }

  give(key: string, bytes: number): void {
    const used = (this.#byKey.get(key) ?? 0) - bytes
    this.#used -= bytes
    if (used > 0) this.#byKey.set(key, used)
    else this.#byKey.delete(key)
  }
}

export interface ConnectionLimits {
  readonly total: number
  readonly perAddress: number
  /** True for trusted proxies, which carry connections of many clients. */
  readonly isProxy: (address: string) => boolean
}

/** Closes connections beyond the limits. If the server is full, idle connections are closed first. */
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
