import { addAbortListener } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Client, ClientChannel, ConnectConfig, SFTPWrapper } from 'ssh2'
import { RunnerUnavailableError, formatSshAddress, type SshAddress } from '@scanfarm/contracts'
import { HostKeyCheck } from './host-key-check.ts'
import type { SshTarget } from './target.ts'
import { errorText } from '@scanfarm/platform'
import { fieldOf } from '../error-fields.ts'

export interface KeepAlive {
  /** The connection counts as lost after `count` unanswered probes, one each `intervalMs`. */
  readonly intervalMs: number
  readonly count: number
}

export interface ConnectLimits {
  readonly keepAlive: KeepAlive
  /** For the TCP connection, and again for the ssh handshake. */
  readonly timeoutMs: number
}

/** Worth a retry, unlike a host that refuses the login or whose key is refused. */
export class HostUnreachableError extends RunnerUnavailableError {}

/** How the library reports that a host refuses SFTP, that its SFTP server ends, or that a shell prints text instead. */
const NO_SFTP = /start subsystem|exit code .* SFTP session|packet length/i

/** One ssh connection. */
export class Connection {
  /** Settles with the reason when the connection has ended. */
  readonly gone: Promise<string>
  readonly hostKey: string
  readonly #client: Client
  readonly #jump: Connection | undefined
  #isGone = false

  constructor(client: Client, hostKey: string, jump: Connection | undefined) {
    this.#client = client
    this.#jump = jump
    this.hostKey = hostKey
    let reason = 'the host closed the connection'
    client.on('error', (error) => (reason = error.message))
    this.gone = new Promise((resolve) =>
      client.once('close', () => {
        this.#isGone = true
        jump?.close()
        resolve(reason)
      }),
    )
  }

  get usable(): boolean {
    return !this.#isGone
  }

  /**
   * Runs a command line in the user's login shell. Rejects if the host allows no more channels. `onOpen` is called before
   * any event of the channel: a short command may have ended when the promise resolves.
   */
  exec(command: string, onOpen?: (channel: ClientChannel) => void): Promise<ClientChannel> {
    return promised((done) =>
      this.#client.exec(command, (error, channel) => {
        if (error === undefined) onOpen?.(channel)
        done(error, channel)
      }),
    )
  }

  /** Resolves with a text, the answer of the host, if it offers no SFTP. Rejects like `exec`. */
  async sftp(): Promise<SFTPWrapper | string> {
    try {
      return await promised((done) => this.#client.sftp(done))
    } catch (error) {
      const answer = errorText(error)
      if (this.usable && NO_SFTP.test(answer)) return answer
      throw error
    }
  }

  forward({ host, port }: Required<SshAddress>): Promise<ClientChannel> {
    return promised((done) => this.#client.forwardOut('127.0.0.1', 0, host, port, done))
  }

  /** Does not wait for the host. */
  close(): void {
    this.#client.end()
    this.#client.destroy()
    this.#jump?.close()
  }
}

/** The library throws synchronously if the connection has already ended. */
function promised<T>(call: (done: (error: Error | undefined, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    try {
      call((error, value) => (error ? reject(error) : resolve(value)))
    } catch (error) {
      reject(error)
    }
  })
}

/** Opens a connection, through the jump host if there is one. Rejects with a `RunnerUnavailableError`. */
export async function connect(
  target: SshTarget,
  limits: ConnectLimits,
  signal: AbortSignal,
): Promise<Connection> {
  if (target.jump === undefined) {
    return await handshake(
      target,
      target.address,
      await openSocket(target.address, limits, signal),
      limits,
      signal,
    )
  }
  const socket = await openSocket(target.jump, limits, signal)
  const jump = await handshake(target, target.jump, socket, limits, signal)
  try {
    const channel = await jump.forward(target.address)
    return await handshake(target, target.address, channel, limits, signal, jump)
  } catch (error) {
    jump.close()
    if (error instanceof RunnerUnavailableError) throw error
    throw unavailable(target.address, `cannot be reached through ${formatSshAddress(target.jump)}`, error)
  }
}

/** Without TCP_NODELAY each small message waits for the acknowledgement of the previous one: twenty times slower. */
async function openSocket(
  address: Required<SshAddress>,
  limits: ConnectLimits,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted()
  const socket = connectTcp({ host: address.host, port: address.port, noDelay: true })
  // Not the `signal` option of the socket: it would also end the connection later, when other runs share it.
  using _listener = addAbortListener(signal, () => socket.destroy(new Error('the run was cancelled')))
  const late = setTimeout(
    () => socket.destroy(new Error(`no answer in ${limits.timeoutMs} ms`)),
    limits.timeoutMs,
  )
  try {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return socket
  } catch (error) {
    signal.throwIfAborted()
    const why = errorText(error)
    throw new HostUnreachableError(`the ssh host ${formatSshAddress(address)} cannot be reached: ${why}`, {
      cause: error,
    })
  } finally {
    clearTimeout(late)
  }
}

async function handshake(
  target: SshTarget,
  address: Required<SshAddress>,
  socket: Duplex,
  limits: ConnectLimits,
  signal: AbortSignal,
  jump?: Connection,
): Promise<Connection> {
  const { default: ssh2 } = await import('ssh2')
  const client = new ssh2.Client()
  const check = new HostKeyCheck(target, address)
  using _listener = addAbortListener(signal, () => socket.destroy())
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('ready', resolve).on('error', reject)
      client.once('close', () => reject(new Error('the host closed the connection')))
      client.connect({ ...configOf(target, address, limits), ...check.config, sock: socket })
    })
    return new Connection(client, check.fingerprint, jump)
  } catch (error) {
    client.destroy()
    socket.destroy()
    signal.throwIfAborted()
    throw check.refusal ?? unavailable(address, explainHandshake(target, error), error)
  }
}

const configOf = (
  target: SshTarget,
  address: Required<SshAddress>,
  limits: ConnectLimits,
): ConnectConfig => ({
  username: address.user,
  privateKey: target.key,
  password: target.password,
  agent: target.agent,
  readyTimeout: limits.timeoutMs,
  keepaliveInterval: limits.keepAlive.intervalMs,
  keepaliveCountMax: limits.keepAlive.count,
})

function explainHandshake(target: SshTarget, error: unknown): string {
  if (fieldOf(error, 'level') !== 'client-authentication') return 'cannot be used'
  const tried = [
    target.key && `the key ${target.keyFile ?? 'of this farm'}`,
    target.agent && 'the agent',
    target.password !== undefined && 'the password',
  ].filter(Boolean)
  return tried.length > 0
    ? `refuses ${target.address.user} with ${tried.join(', ')}`
    : `refuses ${target.address.user}: set a key file, an agent or a password`
}

function unavailable(address: SshAddress, what: string, error: unknown): RunnerUnavailableError {
  const why = errorText(error)
  return new RunnerUnavailableError(`the ssh host ${formatSshAddress(address)} ${what}: ${why}`, {
    cause: error,
  })
}
