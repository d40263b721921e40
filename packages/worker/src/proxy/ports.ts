import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { MAX_HEADER_BYTES } from './exchange.ts'

/** What a proxy does with what comes to a port. */
export interface PortUser {
  accept(socket: Socket): void
  forward(incoming: IncomingMessage, answer: ServerResponse): void
  tunnel(incoming: IncomingMessage, socket: Socket, head: Buffer): void
}

/** A port of one proxy at a time. Without one it takes no connection. */
export class ProxyPort {
  user: PortUser | undefined
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    server.timeout = 0
    server.keepAliveTimeout = 0
    server.on('connection', (socket: Socket) => {
      if (this.user === undefined) socket.destroy()
      else this.user.accept(socket)
    })
    server.on('request', (incoming: IncomingMessage, answer: ServerResponse) =>
      this.user?.forward(incoming, answer),
    )
    server.on('connect', (incoming: IncomingMessage, socket: Socket, head: Buffer) =>
      this.user?.tunnel(incoming, socket, head),
    )
  }

  static async open(host: string, user?: PortUser): Promise<ProxyPort> {
    const server = createServer({
      insecureHTTPParser: true,
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: 0,
    })
    const port = new ProxyPort(server)
    port.user = user
    await once(server.listen(0, host), 'listening')
    return port
  }

  get number(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** When its connections have ended. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }
}

/**
 * Ports of loopback that stay open for the next run: to open and close one takes longer than all else of a proxy that is
 * not used, and the kernel's rules of a user name it.
 */
export class ProxyPorts implements AsyncDisposable {
  readonly #free: { readonly port: ProxyPort; readonly uid: number | undefined }[] = []

  /** That of the last run of the user, if it is free, else the one that has been free for longest. */
  async take(uid: number | undefined, user: PortUser): Promise<ProxyPort> {
    const same = this.#free.findIndex((one) => one.uid === uid)
    const [found] = this.#free.splice(Math.max(0, same), 1)
    const port = found?.port ?? (await ProxyPort.open('127.0.0.1'))
    port.user = user
    return port
  }

  /** After the end of all connections. */
  give(port: ProxyPort, uid: number | undefined): void {
    port.user = undefined
    this.#free.push({ port, uid })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#free.splice(0).map(({ port }) => port.close()))
  }
}
