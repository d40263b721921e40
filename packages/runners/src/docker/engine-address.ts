import { existsSync } from 'node:fs'
import { readDockerFile } from './config-folder.ts'

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
  /** Folder with the certificates. */
  readonly dockerConfig: string | undefined
}

/** Throws with advice if the settings contradict each other. */
export function engineAddress({ dockerHost: engine, dockerConfig }: EngineSettings): EngineAddress {
  const { kind } = parseEngine(engine)
  if (kind === 'socket') return { engine }
  const read = (name: string): string | undefined => readDockerFile(dockerConfig, name)
  const [ca, cert, key] = [read('ca.pem'), read('cert.pem'), read('key.pem')]
  if ((cert === undefined) !== (key === undefined))
    throw new Error('cert.pem and key.pem of runner.docker_config belong together: add both or neither')
  if (ca !== undefined) return { engine, tls: { ca, cert, key } }
  if (cert === undefined && kind === 'tcp') return { engine }
  throw new Error(
    'runner.docker_host with TLS needs ca.pem, the authority that signed the certificate of the engine, in runner.docker_config',
  )
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
