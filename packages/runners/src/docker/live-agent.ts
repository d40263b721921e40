import { Agent, type ClientRequestArgs } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Silence after which the kernel asks whether the engine's machine is still there, ten times, a second apart. */
const ASK_AFTER_MS = 10_000

type Done = (error: Error | null, socket: Duplex) => void

/** Connections on which a machine that vanished is noticed, though nobody sends anything. */
export class LiveAgent extends Agent {
  override createConnection(options: ClientRequestArgs, done?: Done): Duplex | null | undefined {
    return asking(super.createConnection(options, done))
  }
}

/** The same with TLS. */
export class LiveTlsAgent extends TlsAgent {
  override createConnection(options: ClientRequestArgs, done?: Done): Duplex | null | undefined {
    return asking(super.createConnection(options, done))
  }
}

const asking = (socket: Duplex | null | undefined): Duplex | null | undefined => {
  if (socket instanceof Socket) socket.setKeepAlive(true, ASK_AFTER_MS)
  return socket
}
