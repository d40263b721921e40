import Docker from 'dockerode'
import { RunnerUnavailableError } from '@scanfarm/contracts'
import { codeOf, messageOf, property } from '../error-facts.ts'
import { parseEngine, type EngineAddress } from './engine-address.ts'
import { LiveAgent, LiveTlsAgent } from './live-agent.ts'

/** An engine that is well answers the small questions at once. */
const ANSWER_MS = 60_000
const PING_MS = 5_000
const PORT = 2375
const TLS_PORT = 2376

/**
 * Every choice is spelt out: the library would fill gaps from this program's environment. Throws when the address
 * cannot be used.
 */
export function connectEngine({ engine, tls }: EngineAddress): Docker {
  const parsed = parseEngine(engine)
  const nothing = {
    host: undefined,
    port: undefined,
    socketPath: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
    timeout: undefined,
  }
  if (parsed.kind === 'socket') return new Docker({ ...nothing, socketPath: parsed.path, protocol: 'http' })
  const protocol = tls !== undefined || parsed.kind === 'tls' ? 'https' : 'http'
  const port = parsed.port ?? (protocol === 'https' ? TLS_PORT : PORT)
  const agent = protocol === 'https' ? new LiveTlsAgent() : new LiveAgent()
  const options = { ...nothing, ...tls, host: parsed.host, port, protocol, agent } as const
  return new Docker(options)
}

/** What the engine answers, or a rejection when it, or the way to it, hangs. */
export async function answer<T>(asked: Promise<T>, ms = ANSWER_MS): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it did not answer within ${ms / 1_000} s`)), ms)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** What the engine answered, without the words that the library puts around it. */
export const engineMessage = (error: unknown): string => {
  const message = property(property(error, 'json'), 'message')
  return typeof message === 'string' ? message : messageOf(error)
}

export const statusOf = (error: unknown): number | undefined => {
  const status = property(error, 'statusCode')
  return typeof status === 'number' ? status : undefined
}

const NO_CERTIFICATE = 'it asks for a certificate: give runner.docker_cert and runner.docker_key'

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket; is the engine installed and running?',
  ECONNREFUSED: 'nothing listens there; is the engine running?',
  EACCES: 'this user may not use the socket; add it to the group that owns the socket',
  ENOTFOUND: 'no such host is known; is runner.docker_host right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host; name the host as the certificate does',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by the authority of runner.docker_ca',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by the authority of runner.docker_ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by the authority of runner.docker_ca',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the authority of runner.docker_ca',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  EPROTO: 'one side speaks TLS and the other does not, or the engine refuses our certificate',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: NO_CERTIFICATE,
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE': NO_CERTIFICATE,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'it does not know the authority that signed runner.docker_cert',
}

/** An engine that wants a certificate may have ended the connection before its reason was read. */
const adviceOn = (code: string, tls: EngineAddress['tls']): string | undefined =>
  tls !== undefined && tls.cert === undefined && (code === 'ECONNRESET' || code === 'EPIPE')
    ? `it ended the connection; maybe ${NO_CERTIFICATE}`
    : ADVICE[code]

export interface EngineFacts {
  readonly cpus: number
  /** Root of a container is somebody else outside (rootless engine, user namespaces). */
  readonly mapsUsers: boolean
}

/** The engine's facts, or an error that says what to do. */
export async function reachEngine(docker: Docker, { engine, tls }: EngineAddress): Promise<EngineFacts> {
  try {
    const info: unknown = await answer(docker.info())
    const security = property(info, 'SecurityOptions')
    const mapsUsers = Array.isArray(security) && security.some((word) => /name=(rootless|userns)/.test(word))
    return { cpus: Number(property(info, 'NCPU')), mapsUsers }
  } catch (error) {
    throw new RunnerUnavailableError(
      `the docker engine at ${engine} cannot be reached: ${adviceOn(codeOf(error), tls) ?? engineMessage(error)}`,
      { cause: error },
    )
  }
}

/** Whether an engine answers there. */
export async function engineAnswers(address: EngineAddress): Promise<boolean> {
  return await answer(connectEngine(address).ping(), PING_MS).then(
    () => true,
    () => false,
  )
}
