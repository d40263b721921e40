import { existsSync } from 'node:fs'

/** Address of a docker engine, and the certificates of both sides. */
export interface EngineAddress {
  /** `unix:///run/docker.sock`, a path, `tcp://host:2375` or, with `tls`, `tcp://host:2376`. */
  readonly engine: string
  /** Contents of PEM files; `cert` and `key` only if the engine requires a client certificate. */
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string }
}

/** The settings of the connection to the engine. */
export interface EngineSettings {
  readonly dockerHost: string
  readonly dockerCa: Revealing | undefined
  readonly dockerCert: Revealing | undefined
  readonly dockerKey: Revealing | undefined
}

/** The part of `Secret` that is needed here. */
export interface Revealing {
  reveal(): string
}

/** Throws with advice if the settings contradict each other. */
export function engineAddress(settings: EngineSettings): EngineAddress {
  const { dockerHost: engine, dockerCa: ca, dockerCert: cert, dockerKey: key } = settings
  const { kind } = parseEngine(engine)
  if ((cert === undefined) !== (key === undefined))
    throw new Error('runner.docker_cert and runner.docker_key belong together: set both or neither')
  if (ca === undefined) {
    if (cert !== undefined || kind === 'tls')
      throw new Error(
        'runner.docker_host with TLS needs runner.docker_ca, the authority that signed the certificate of the engine',
      )
    return { engine }
  }
  if (kind === 'socket')
    throw new Error(`runner.docker_ca only applies to a TCP runner.docker_host, not to ${engine}`)
  return { engine, tls: { ca: ca.reveal(), cert: cert?.reveal(), key: key?.reveal() } }
}

export type ParsedEngine =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp' | 'tls'; readonly host: string; readonly port: number | undefined }

/** Throws if the address is invalid. */
export function parseEngine(engine: string): ParsedEngine {
  const path = engine.startsWith('unix://') ? engine.slice('unix://'.length) : engine
  if (path.startsWith('/')) return { kind: 'socket', path }
  const url = URL.canParse(engine) ? new URL(engine) : undefined
  const kind = url && KINDS[url.protocol]
  if (url === undefined || kind === undefined || url.hostname === '')
    throw new Error(
      `${JSON.stringify(engine)} is not the address of a docker engine: expected unix:///path/of/socket or tcp://host:port`,
    )
  return { kind, host: url.hostname, port: url.port === '' ? undefined : Number(url.port) }
}

/** False if the engine's socket is missing. Who asks first does not load the docker library for nothing: 5 MiB of code. */
export function mayAnswer({ engine }: Pick<EngineAddress, 'engine'>): boolean {
  const parsed = parseEngine(engine)
  return parsed.kind !== 'socket' || existsSync(parsed.path)
}

const KINDS: Readonly<Record<string, 'tcp' | 'tls'>> = { 'tcp:': 'tcp', 'http:': 'tcp', 'https:': 'tls' }
