import Docker from 'dockerode'
import { RunnerUnavailableError } from '@scanfarm/contracts'
import { codeOf, messageOf, property } from '../error-facts.ts'

export interface EngineAddress {
  /** `unix:///run/docker.sock`, a path, `tcp://host:2375` or, with `tls`, `https://host:2376`. */
  readonly engine: string
  /** Contents of PEM files. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
}

/** Every choice is spelt out: the library would fill gaps from this program's environment. */
export function connectEngine({ engine, tls }: EngineAddress): Docker {
  const nothing = {
    host: undefined,
    port: undefined,
    socketPath: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
  }
  const path = engine.startsWith('unix://') ? engine.slice('unix://'.length) : engine
  if (path.startsWith('/')) return new Docker({ ...nothing, socketPath: path, protocol: 'http' })
  const url = new URL(engine)
  const protocol = tls !== undefined || url.protocol === 'https:' ? 'https' : 'http'
  const port = url.port || (protocol === 'https' ? 2376 : 2375)
  return new Docker({ ...nothing, ...tls, host: url.hostname, port, protocol })
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

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket; is the engine installed and running?',
  ECONNREFUSED: 'nothing listens there; is the engine running?',
  EACCES: 'this user may not use the socket; add it to the group that owns the socket',
}

/** The engine's facts, or an error that says what to do. */
export async function reachEngine(
  docker: Docker,
  { engine }: EngineAddress,
): Promise<{ readonly cpus: number }> {
  try {
    return { cpus: Number(property(await docker.info(), 'NCPU')) }
  } catch (error) {
    throw new RunnerUnavailableError(
      `the docker engine at ${engine} cannot be reached: ${ADVICE[codeOf(error)] ?? engineMessage(error)}`,
      { cause: error },
    )
  }
}

/** Whether an engine answers there. */
export async function engineAnswers(address: EngineAddress): Promise<boolean> {
  return await connectEngine(address)
    .ping()
    .then(
      () => true,
      () => false,
    )
}
