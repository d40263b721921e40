import { addAbortListener } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { RunnerUnavailableError, type RunnerContext } from '@scanfarm/contracts'
import { fieldOf } from '../error-fields.ts'
import { answer, engineMessage, statusOf } from './engine.ts'
import { registryOf, type RegistryAuth, type RegistryAuths } from './registry-auth.ts'

export interface ImageFacts {
  /** Containers are created from the id, so a tag that moves meanwhile has no effect. */
  readonly id: string
  /** `name@sha256:…` if the image came from a registry, else its id. */
  readonly digest: string
}

/** The part of a run's context that a pull needs. */
export type PullContext = Pick<RunnerContext, 'signal' | 'log'>

const PROGRESS_MS = 1_000
const MIB = 1024 * 1024

/** The image on the engine; pulls it if it is missing. */
export async function provideImage(
  docker: Docker,
  name: string,
  context: PullContext,
  auths: RegistryAuths = new Map(),
): Promise<ImageFacts> {
  return (await findImage(docker, name)) ?? (await pullImage(docker, name, context, auths))
}

async function findImage(docker: Docker, name: string): Promise<ImageFacts | undefined> {
  try {
    const { Id: id, RepoDigests: digests } = await answer(docker.getImage(name).inspect())
    return { id, digest: digests?.[0] ?? id }
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw new RunnerUnavailableError(`the image ${name} cannot be used: ${engineMessage(error)}`, {
      cause: error,
    })
  }
}

async function pullImage(
  docker: Docker,
  name: string,
  context: PullContext,
  auths: RegistryAuths,
): Promise<ImageFacts> {
  context.log(`pulling the image ${name}`)
  const registry = registryOf(name)
  const authconfig = auths.get(registry)
  try {
    const stream = await docker.pull(name, { abortSignal: context.signal, authconfig })
    await followPull(stream, name, context)
  } catch (error) {
    context.signal.throwIfAborted()
    throw new RunnerUnavailableError(
      `the image ${name} is not on the engine and cannot be pulled: ${engineMessage(error)}${adviceOn(error, registry, authconfig)}`,
      { cause: error },
    )
  }
  const image = await findImage(docker, name)
  if (image === undefined)
    throw new RunnerUnavailableError(`the image ${name} was pulled but is not on the engine`)
  context.log(`pulled the image ${name} as ${image.digest}`)
  return image
}

const adviceOn = (error: unknown, registry: string, auth: RegistryAuth | undefined): string => {
  if (!/unauthorized|denied|authentication required|no basic auth/i.test(engineMessage(error))) return ''
  return auth === undefined
    ? ` (config.json of runner.docker_config has no credentials for ${registry})`
    : ` (${registry} refuses the credentials of config.json in runner.docker_config)`
}

interface PullLine {
  readonly error?: string
  readonly layer?: { readonly id: string; readonly current: number; readonly total: number }
}

function readPullLine(text: string): PullLine {
  const line: unknown = JSON.parse(text)
  const [id, error, detail] = ['id', 'error', 'progressDetail'].map((name) => fieldOf(line, name))
  const [current, total] = [Number(fieldOf(detail, 'current') ?? 0), Number(fieldOf(detail, 'total') ?? 0)]
  return {
    error: typeof error === 'string' ? error : undefined,
    layer: typeof id === 'string' && total > 0 ? { id, current, total } : undefined,
  }
}

/** The engine answers 200 before the pull starts and reports failures as lines of the body. */
async function followPull(stream: NodeJS.ReadableStream, name: string, context: PullContext): Promise<void> {
  const layers = new Map<string, { readonly current: number; readonly total: number }>()
  using _listener = addAbortListener(context.signal, () => {
    if (stream instanceof Readable) stream.destroy(new Error('cancelled'))
  })
  let loggedAt = Date.now()
  for await (const line of createInterface({ input: stream })) {
    const { error, layer } = readPullLine(line)
    if (error !== undefined) throw new Error(error)
    if (layer !== undefined) layers.set(layer.id, layer)
    if (Date.now() - loggedAt < PROGRESS_MS || layers.size === 0) continue
    loggedAt = Date.now()
    context.log(`pulling the image ${name}: ${progressOf([...layers.values()])}`)
  }
  context.signal.throwIfAborted()
}

function progressOf(layers: readonly { readonly current: number; readonly total: number }[]): string {
  const sum = (key: 'current' | 'total'): string =>
    (layers.reduce((total, layer) => total + layer[key], 0) / MIB).toFixed(1)
  return `${sum('current')} of ${sum('total')} MiB in ${layers.length} layers`
}
