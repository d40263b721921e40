import { connect as connectTcp, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import ssh2, { type Client, type ClientChannel, type ConnectConfig, type SFTPWrapper } from 'ssh2'
import { RunnerUnavailableError, formatSshAddress, type SshAddress } from '@scanfarm/contracts'
import { HostKeyCheck } from './host-key-check.ts'
import type { SshTarget } from './target.ts'
import { messageOf, property } from '../error-facts.ts'

export interface KeepAlive {
  /** A host that has not answered `count` questions, one each `intervalMs`, is gone. */
  readonly intervalMs: number
  readonly count: number
}

export interface ConnectLimits {
  readonly keepAlive: KeepAlive
  /** For each of: reaching the host, and agreeing with it on keys and user. */
  readonly timeoutMs: number
}

/** It may be there in a moment, unlike one that refuses us or that we refuse. */
export class HostUnreachableError extends RunnerUnavailableError {}

/** One ssh connection. */
export class Connection {
  /** Settles with the reason when the connection is gone. */
  readonly gone: Promise<string>
  readonly hostKey: string
  readonly #client: Client
  readonly #jump: Connection | undefined
  #isGone = false

  constructor(client: Client, hostKey: string, jump: Connection | undefined) {
    this.#client = client
    this.#jump = jump
    this.hostKey = hostKey
    let reason = 'the host ended the connection'
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

  /** Runs a command line in the user's login shell; rejects when the host allows no more channels. */
  exec(command: string): Promise<ClientChannel> {
    return promised((done) => this.#client.exec(command, done))
  }

  sftp(): Promise<SFTPWrapper> {
    return promised((done) => this.#client.sftp(done))
  }

  forward({ host, port }: Required<SshAddress>): Promise<ClientChannel> {
    return promised((done) => this.#client.forwardOut('127.0.0.1', 0, host, port, done))
  }

  /** Ends it at once if the host does not answer. */
  close(): void {
    this.#client.end()
    this.#client.destroy()
    this.#jump?.close()
  }
}

/** The library throws instead of answering when the connection is gone already. */
function promised<T>(call: (done: (error: Error | undefined, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    try {
      call((error, value) => (error ? reject(error) : resolve(value)))
    } catch (error) {
      reject(error)
    }
  })
}

/** Opens a connection, through the jump host where there is one. Rejects with a `RunnerUnavailableError`. */
export async function connect(
  target: SshTarget,
  limits: ConnectLimits,
  signal: AbortSignal,
): Promise<Connection> {
  if (target.jump === undefined) {
    return await shakeHands(
      target,
      target.address,
      await reach(target.address, limits, signal),
      limits,
      signal,
    )
  }
  const road = await reach(target.jump, limits, signal)
  const jump = await shakeHands(target, target.jump, road, limits, signal)
  try {
    const way = await jump.forward(target.address)
    return await shakeHands(target, target.address, way, limits, signal, jump)
  } catch (error) {
    jump.close()
    if (error instanceof RunnerUnavailableError) throw error
    throw unavailable(target.address, `cannot be reached through ${formatSshAddress(target.jump)}`, error)
  }
}

/** Without TCP_NODELAY each small message waits for the answer to the one before: twenty times slower. */
async function reach(
  address: Required<SshAddress>,
  limits: ConnectLimits,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted()
  const socket = connectTcp({ host: address.host, port: address.port, noDelay: true })
  // Not the socket's own signal: that would end it later too, and others share the connection by then.
  const stop = (): void => void socket.destroy(new Error('the run was stopped'))
  signal.addEventListener('abort', stop, { once: true })
  const late = setTimeout(
    () => socket.destroy(new Error(`no answer in ${limits.timeoutMs} ms`)),
    limits.timeoutMs,
  )
  try {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return socket
  } catch (error) {
    signal.throwIfAborted()
    const why = messageOf(error)
    throw new HostUnreachableError(`the ssh host ${formatSshAddress(address)} cannot be reached: ${why}`, {
      cause: error,
    })
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', stop)
  }
}

async function shakeHands(
  target: SshTarget,
  address: Required<SshAddress>,
  socket: Duplex,
  limits: ConnectLimits,
  signal: AbortSignal,
  jump?: Connection,
): Promise<Connection> {
  const client = new ssh2.Client()
  const check = new HostKeyCheck(target, address)
  const stop = (): void => void socket.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('ready', resolve).on('error', reject)
      client.once('close', () => reject(new Error('the host ended the connection')))
      client.connect({ ...configOf(target, address, limits), ...check.config, sock: socket })
    })
    return new Connection(client, check.fingerprint, jump)
  } catch (error) {
    client.destroy()
    socket.destroy()
    signal.throwIfAborted()
    throw check.refusal ?? unavailable(address, explainHandshake(target, error), error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const configOf = (
  target: SshTarget,
  address: Required<SshAddress>,
  limits: ConnectLimits,
): ConnectConfig => ({
  username: address.user,
  privateKey: target.key,
  passphrase: target.passphrase,
  password: target.password,
  agent: target.agent,
  readyTimeout: limits.timeoutMs,
  keepaliveInterval: limits.keepAlive.intervalMs,
  keepaliveCountMax: limits.keepAlive.count,
})

function explainHandshake(target: SshTarget, error: unknown): string {
  if (property(error, 'level') !== 'client-authentication') return 'cannot be used'
  const tried = [
    target.keyFile && `the key ${target.keyFile}`,
    target.agent && 'the agent',
    target.password !== undefined && 'the password',
  ].filter(Boolean)
  return `does not let ${target.address.user} in with ${tried.length > 0 ? tried.join(', ') : 'nothing: name a key, an agent or a password'}`
}

function unavailable(address: SshAddress, what: string, error: unknown): RunnerUnavailableError {
  const why = messageOf(error)
  return new RunnerUnavailableError(`the ssh host ${formatSshAddress(address)} ${what}: ${why}`, {
    cause: error,
  })
}
