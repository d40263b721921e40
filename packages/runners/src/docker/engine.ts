import { Agent, type ClientRequestArgs } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import type { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { RunnerUnavailableError } from '@scanfarm/contracts'
import { codeOf } from '@scanfarm/paths'
import { errorText, settlesWithin } from '@scanfarm/platform'
import { fieldOf } from '../error-fields.ts'
import { mayAnswer, parseEngine, type EngineAddress } from './engine-address.ts'

/** A healthy engine answers small requests at once. */
const ANSWER_MS = 60_000
/** TCP keep-alive: the first probe after this silence, then up to ten, a second apart. */
const PROBE_AFTER_MS = 10_000
const PING_MS = 5_000
const PORT = 2375
const TLS_PORT = 2376

type Done = (error: Error | null, socket: Duplex) => void

/** Connections that notice a machine that vanishes, also while they are silent. */
export class KeepAliveAgent extends Agent {
  override createConnection(options: ClientRequestArgs, done?: Done): Duplex | null | undefined {
    return withProbes(super.createConnection(options, done))
  }
}

export class KeepAliveTlsAgent extends TlsAgent {
  override createConnection(options: ClientRequestArgs, done?: Done): Duplex | null | undefined {
    return withProbes(super.createConnection(options, done))
  }
}

const withProbes = (socket: Duplex | null | undefined): Duplex | null | undefined => {
  if (socket instanceof Socket) socket.setKeepAlive(true, PROBE_AFTER_MS)
  return socket
}

/**
 * Sets every option: the library would take missing ones from this program's environment. Rejects if the address is
 * invalid. The library is loaded here, because most programs need no engine and it takes a tenth of their start.
 */
export async function connectEngine({ engine, tls }: EngineAddress): Promise<Docker> {
  const parsed = parseEngine(engine)
  const { default: Engine } = await import('dockerode')
  const unset = {
    host: undefined,
    port: undefined,
    socketPath: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
    timeout: undefined,
  }
  if (parsed.kind === 'socket') return new Engine({ ...unset, socketPath: parsed.path, protocol: 'http' })
  const protocol = tls !== undefined || parsed.kind === 'tls' ? 'https' : 'http'
  const port = parsed.port ?? (protocol === 'https' ? TLS_PORT : PORT)
  const agent = protocol === 'https' ? new KeepAliveTlsAgent() : new KeepAliveAgent()
  const options = { ...unset, ...tls, host: parsed.host, port, protocol, agent } as const
  return new Engine(options)
}

/** The engine's answer. Rejects when the engine or the connection hangs. */
export async function answer<T>(request: Promise<T>, ms = ANSWER_MS): Promise<T> {
  if (await settlesWithin(request, ms)) return await request
  throw new Error(`no answer within ${ms / 1_000} s`)
}

/** The engine's own error message, without the library's additions. */
export const engineMessage = (error: unknown): string => {
  const message = fieldOf(fieldOf(error, 'json'), 'message')
  return typeof message === 'string' ? message : errorText(error)
}

export const statusOf = (error: unknown): number | undefined => {
  const status = fieldOf(error, 'statusCode')
  return typeof status === 'number' ? status : undefined
}

const NO_CERTIFICATE = 'it asks for a certificate: add cert.pem and key.pem to runner.docker_config'

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket; is the engine installed and running?',
  ECONNREFUSED: 'nothing listens there; is the engine running?',
  EACCES: 'this user may not use the socket; add the user to the group that owns it',
  ENOTFOUND: 'the host name cannot be resolved; is runner.docker_host right?',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another host; use the host name of the certificate in runner.docker_host',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is not signed by the authority in ca.pem of runner.docker_config',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is not signed by the authority in ca.pem of runner.docker_config',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is not signed by the authority in ca.pem of runner.docker_config',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the authority in ca.pem of runner.docker_config',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  EPROTO: 'only one side uses TLS, or the engine refuses the client certificate',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: NO_CERTIFICATE,
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE': NO_CERTIFICATE,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA:
    'it does not trust the authority that signed cert.pem of runner.docker_config',
}

/** An engine that requires a client certificate may close the connection before the reason is read. */
const adviceOn = (code: string, tls: EngineAddress['tls']): string | undefined =>
  tls !== undefined && tls.cert === undefined && (code === 'ECONNRESET' || code === 'EPIPE')
    ? `it closed the connection; maybe ${NO_CERTIFICATE}`
    : ADVICE[code]

export interface EngineFacts {
  readonly cpus: number
  /** root of a container is another user outside (rootless engine, user namespaces). */
  readonly mapsUsers: boolean
  /** Its bridges are devices of this machine. */
  readonly isHere: boolean
}

/** Connects to the engine. Rejects with advice. */
export async function reachEngine(docker: Docker, { engine, tls }: EngineAddress): Promise<EngineFacts> {
  try {
    const info: unknown = await answer(docker.info())
    const security = fieldOf(info, 'SecurityOptions')
    const mapsUsers = Array.isArray(security) && security.some((word) => /name=(rootless|userns)/.test(word))
    const isRootless = Array.isArray(security) && security.some((word) => /name=rootless/.test(word))
    const isHere = fieldOf(info, 'Name') === hostname() && !isRootless
    return { isHere, cpus: Number(fieldOf(info, 'NCPU')), mapsUsers }
  } catch (error) {
    throw new RunnerUnavailableError(
      `the docker engine at ${engine} cannot be reached: ${adviceOn(codeOf(error), tls) ?? engineMessage(error)}`,
      { cause: error },
    )
  }
}

/** Whether an engine answers at the address. */
export async function isEngineUp(address: EngineAddress): Promise<boolean> {
  try {
    if (!mayAnswer(address)) return false
    const docker = await connectEngine(address)
    await answer(docker.ping(), PING_MS)
    return true
  } catch {
    return false
  }
}
