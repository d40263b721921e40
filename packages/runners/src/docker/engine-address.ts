/** Where a docker engine listens, and what both sides prove themselves with. */
export interface EngineAddress {
  /** `unix:///run/docker.sock`, a path, `tcp://host:2375` or, with `tls`, `tcp://host:2376`. */
  readonly engine: string
  /** Contents of PEM files; the certificate and its key only where the engine asks for them. */
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string }
}

/** What of the settings says where the engine is; a value that reveals itself where it is used up. */
export interface EngineSettings {
  readonly dockerHost: string
  readonly dockerCa: Revealing | undefined
  readonly dockerCert: Revealing | undefined
  readonly dockerKey: Revealing | undefined
}

export interface Revealing {
  reveal(): string
}

/** Throws with what to correct when the settings do not fit each other. */
export function engineAddress(settings: EngineSettings): EngineAddress {
  const { dockerHost: engine, dockerCa: ca, dockerCert: cert, dockerKey: key } = settings
  const { kind } = parseEngine(engine)
  if ((cert === undefined) !== (key === undefined))
    throw new Error('runner.docker_cert and runner.docker_key belong together: give both or none')
  if (ca === undefined) {
    if (cert !== undefined || kind === 'tls')
      throw new Error('an engine with TLS needs runner.docker_ca, the authority that signed its certificate')
    return { engine }
  }
  if (kind === 'socket') throw new Error('runner.docker_ca is of no use for an engine on a socket')
  return { engine, tls: { ca: ca.reveal(), cert: cert?.reveal(), key: key?.reveal() } }
}

export type ParsedEngine =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp' | 'tls'; readonly host: string; readonly port: number | undefined }

/** Throws when it is no address that can be used. */
export function parseEngine(engine: string): ParsedEngine {
  const path = engine.startsWith('unix://') ? engine.slice('unix://'.length) : engine
  if (path.startsWith('/')) return { kind: 'socket', path }
  const url = URL.canParse(engine) ? new URL(engine) : undefined
  const kind = url && KINDS[url.protocol]
  if (url === undefined || kind === undefined || url.hostname === '')
    throw new Error(
      `${engine} is no address of a docker engine: give unix:///path/of/socket or tcp://host:port`,
    )
  return { kind, host: url.hostname, port: url.port === '' ? undefined : Number(url.port) }
}

const KINDS: Readonly<Record<string, 'tcp' | 'tls'>> = { 'tcp:': 'tcp', 'http:': 'tcp', 'https:': 'tls' }
