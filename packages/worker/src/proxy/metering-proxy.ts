import { once } from 'node:events'
import { Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import { BlockList, connect, isIPv6, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { CommandNetwork } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { peerOf } from '../network/peer.ts'
import type { Metered } from './counts.ts'
import { exchange, destinationOf } from './exchange.ts'
import { Pace } from './pace.ts'
import { ProxyPort, type ProxyPorts, type PortUser } from './ports.ts'
import { metered } from './records.ts'

const HOST = '127.0.0.1'
/** Most hosts whose refusals are counted one by one. */
const REFUSED_HOSTS = 100
/** In another network they are not this machine. */
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addSubnet('0.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')
LOOPBACK.addAddress('::', 'ipv6')
const isLoopback = (address: string): boolean => LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
const HTTP_PORT = 80
const HTTPS_PORT = 443
/** In a path they leave no doubt about the host. */
const UNCLEAR = /[\p{Cc}\p{Z}\\]/gu

/** Addresses of the host of a URL, all of which were checked, or why nothing is sent there. */
export type Route = { readonly addresses: readonly string[] } | { readonly reason: string }

export interface MeteringProxyParts {
  /** The URL of a tunnel ends with `/`. */
  route(url: string, isTunnel: boolean): Promise<Route>
  /** Requests and connections a second; null: no limit. */
  readonly rate: number | null
  /** The rate is that of each address. */
  readonly isPerAddress: boolean
  /** The user whose connections it accepts; undefined: those of all users. */
  readonly uid: number | undefined
  readonly ports: ProxyPorts
}

interface Client {
  readonly mayUse: Promise<boolean>
  /** It is in another network. */
  readonly isElsewhere: boolean
}

/** Requests to a host that were not sent. */
export interface Refused {
  readonly origin: string
  readonly reason: string
  readonly count: number
}

/**
 * The proxy of one run for the tools of its commands, on loopback. It checks where each request goes, also those after
 * redirects, delays what is above the rate, and counts. Messages pass as they are.
 */
export class MeteringProxy implements AsyncDisposable {
  readonly #parts: MeteringProxyParts
  readonly #pace: Pace | undefined
  /** For commands on this machine. */
  #port: ProxyPort | undefined
  readonly #otherPorts: ProxyPort[] = []
  /** By gateway. */
  readonly #joined = new Map<string, Promise<string>>()
  /** Those of tools. */
  readonly #clients = new Map<Socket, Client>()
  readonly #servers = new Set<Socket>()
  readonly #agents = {
    kept: new Agent({ keepAlive: true }),
    fresh: new Agent({ keepAlive: true, maxFreeSockets: 0 }),
  }
  readonly #refused = new Map<string, Refused>()
  #requests = 0
  #tunnels = 0
  #refusals = 0
  #bytes = 0

  private constructor(parts: MeteringProxyParts) {
    this.#parts = parts
    this.#pace = parts.rate === null ? undefined : new Pace(parts.rate)
  }

  static async open(parts: MeteringProxyParts): Promise<MeteringProxy> {
    const proxy = new MeteringProxy(parts)
    const { uid, ports } = parts
    proxy.#port = await ports.take(
      uid,
      proxy.#userOf(false, async (socket) => uid === undefined || (await peerOf(socket)) === uid),
    )
    return proxy
  }

  get port(): number {
    return this.#port?.number ?? 0
  }

  /** Also takes requests from another network. Resolves to its address there. */
  async join(network: CommandNetwork): Promise<string> {
    const joined = this.#joined.get(network.gateway) ?? this.#join(network)
    this.#joined.set(network.gateway, joined)
    return await joined
  }

  async #join({ gateway, isOwn }: CommandNetwork): Promise<string> {
    const known = new Set<string>()
    const accepts = async ({ remoteAddress = '' }: Socket): Promise<boolean> => {
      if (!known.has(remoteAddress) && !(await isOwn(remoteAddress))) return false
      known.add(remoteAddress)
      return true
    }
    const port = await ProxyPort.open(gateway, this.#userOf(true, accepts))
    this.#otherPorts.push(port)
    return `${isIPv6(gateway) ? `[${gateway}]` : gateway}:${port.number}`
  }

  #userOf(isElsewhere: boolean, accepts: (socket: Socket) => Promise<boolean>): PortUser {
    return {
      accept: (socket) => this.#accept(socket, { isElsewhere, mayUse: accepts(socket).catch(() => false) }),
      forward: (incoming, answer) => {
        this.#forward(incoming, answer).catch(() => incoming.socket.destroy())
      },
      tunnel: (incoming, socket, head) => {
        this.#tunnel(incoming.url ?? '', socket, head).catch(() => socket.destroy())
      },
    }
  }

  /** Like `127.0.0.1:4321`. */
  get address(): string {
    return `${HOST}:${this.port}`
  }

  /** Until now. */
  get counts(): Metered {
    const open = [...this.#clients.keys()].reduce(
      (sum, socket) => sum + socket.bytesRead + socket.bytesWritten,
      0,
    )
    return {
      requests: this.#requests,
      tunnels: this.#tunnels,
      bytes: this.#bytes + open,
      refused: this.#refusals,
    }
  }

  /** Those since the last call. */
  takeRefused(): Refused[] {
    const found = [...this.#refused.values()]
    this.#refused.clear()
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#otherPorts.map((port) => port.close())
    for (const socket of [...this.#clients.keys(), ...this.#servers]) socket.destroy()
    if (this.#port !== undefined) this.#parts.ports.give(this.#port, this.#parts.uid)
    this.#port = undefined
    await Promise.all(closed)
  }

  #accept(socket: Socket, client: Client): void {
    this.#clients.set(socket, client)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#clients.delete(socket)
      this.#bytes += socket.bytesRead + socket.bytesWritten
    })
  }

  #keep(server: Socket): void {
    if (!this.#servers.has(server))
      this.#servers.add(server.once('close', () => this.#servers.delete(server)))
  }

  /** Where to send a request to, when it is its turn; or the reason, or undefined if the tool no longer waits. */
  async #way(url: string, socket: Socket, isTunnel: boolean): Promise<Route | undefined> {
    const client = this.#clients.get(socket)
    if ((await client?.mayUse) !== true) return { reason: 'this proxy is for the commands of another run' }
    const found = await this.#parts
      .route(url, isTunnel)
      .catch((error: unknown) => ({ reason: `it cannot be checked: ${errorText(error)}` }))
    const isHere = 'addresses' in found && client?.isElsewhere === true && found.addresses.some(isLoopback)
    const route = isHere ? { reason: 'it is an address of the container, which needs no proxy' } : found
    if ('reason' in route) {
      this.#refuse(new URL(url).host, route.reason)
      return route
    }
    return (await this.#turn(route.addresses, socket)) ? route : undefined
  }

  async #turn(addresses: readonly string[], socket: Socket): Promise<boolean> {
    const key = this.#parts.isPerAddress ? addresses.join() : ''
    return (await this.#pace?.turn(key, () => socket.destroyed)) ?? !socket.destroyed
  }

  #refuse(origin: string, reason: string): void {
    this.#refusals += 1
    const before = this.#refused.get(origin)
    if (before === undefined && this.#refused.size >= REFUSED_HOSTS) return
    this.#refused.set(origin, { origin, reason: before?.reason ?? reason, count: (before?.count ?? 0) + 1 })
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const [, authority = '', tail = ''] = /^http:\/\/([^/?#]+)([^#]*)/i.exec(incoming.url ?? '') ?? []
    const path = tail.startsWith('/') ? tail : `/${tail}`
    const say = (code: number, reason: string): void => {
      answer.writeHead(code, { 'content-type': 'text/plain' }).end(`scanfarm: ${reason}\n`)
    }
    const url = authority === '' ? null : URL.parse(`http://${authority}/`)
    if (url === null)
      return say(400, 'this is a proxy: it takes http://HOST/PATH, and CONNECT for anything else')
    const checked = path.replaceAll(UNCLEAR, encodeURIComponent)
    const way = await this.#way(`http://${url.host}${checked}`, incoming.socket, false)
    if (way === undefined) return
    if ('reason' in way) return say(403, way.reason)
    this.#requests += 1
    const destination = destinationOf(url, way.addresses, HTTP_PORT)
    exchange({
      incoming,
      answer,
      path,
      destination: destination,
      agents: this.#agents,
      onSocket: (socket) => this.#keep(socket),
    })
  }

  async #tunnel(authority: string, socket: Socket, head: Buffer): Promise<void> {
    const end = (status: string, reason: string): void => {
      const text = `scanfarm: ${reason}\n`
      const headers = `Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close`
      socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${text}`)
    }
    const url = URL.parse(`https://${authority}/`)
    if (url?.pathname !== '/') return end('400 Bad Request', 'CONNECT takes HOST:PORT')
    const way = await this.#way(url.href, socket, true)
    if (way === undefined) return
    if ('reason' in way) return end('403 Forbidden', way.reason)
    this.#tunnels += 1
    const server = connect({ ...destinationOf(url, way.addresses, HTTPS_PORT), allowHalfOpen: true })
    this.#keep(server)
    try {
      await once(server, 'connect')
    } catch (error) {
      return end('502 Bad Gateway', errorText(error))
    }
    // Some tools look for these words.
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    pipeline(
      socket,
      (source: AsyncIterable<Buffer>) => metered(source, () => this.#turn(way.addresses, socket)),
      server,
      () => undefined,
    )
    pipeline(server, socket, () => undefined)
  }
}
