import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { RunnerUnavailableError, type RunnerContext } from '@scanfarm/contracts'
import { engineMessage, statusOf } from './engine.ts'

export interface ImageFacts {
  /** What containers are made from, so that a tag that moves meanwhile changes nothing. */
  readonly id: string
  /** `name@sha256:…` where a registry gave the image, else its id. */
  readonly digest: string
}

const PROGRESS_MS = 1_000
const MIB = 1024 * 1024

/** The image as the engine has it, pulled first if it is missing. */
export async function provideImage(
  docker: Docker,
  name: string,
  context: RunnerContext,
): Promise<ImageFacts> {
  return (await findImage(docker, name)) ?? (await pullImage(docker, name, context))
}

async function findImage(docker: Docker, name: string): Promise<ImageFacts | undefined> {
  try {
    const { Id: id, RepoDigests: digests } = await docker.getImage(name).inspect()
    return { id, digest: digests?.[0] ?? id }
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw new RunnerUnavailableError(`the image ${name} cannot be used: ${engineMessage(error)}`, {
      cause: error,
    })
  }
}

async function pullImage(docker: Docker, name: string, context: RunnerContext): Promise<ImageFacts> {
  context.log(`pulling the image ${name}`)
  try {
    const stream = await docker.pull(name, { abortSignal: context.signal })
    await followPull(stream, name, context)
  } catch (error) {
    context.signal.throwIfAborted()
    throw new RunnerUnavailableError(
      `the image ${name} is not on the engine and could not be pulled: ${engineMessage(error)}`,
      { cause: error },
    )
  }
  const image = await findImage(docker, name)
  if (image === undefined)
    throw new RunnerUnavailableError(`the image ${name} was pulled but is not on the engine`)
  context.log(`pulled the image ${name} as ${image.digest}`)
  return image
}

interface PullLine {
  readonly id?: string
  readonly status?: string
  readonly error?: string
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
}

/** The engine answers 200 before it begins and reports failures as lines of the answer. */
async function followPull(
  stream: NodeJS.ReadableStream,
  name: string,
  context: RunnerContext,
): Promise<void> {
  const layers = new Map<string, { readonly current: number; readonly total: number }>()
  const stop = (): void => void (stream as Readable).destroy(new Error('cancelled'))
  context.signal.addEventListener('abort', stop, { once: true })
  let saidAt = Date.now()
  try {
    for await (const line of createInterface({ input: stream })) {
      const { id, error, progressDetail: detail }: PullLine = JSON.parse(line)
      if (error !== undefined) throw new Error(error)
      if (id !== undefined && detail?.total)
        layers.set(id, { current: detail.current ?? 0, total: detail.total })
      if (Date.now() - saidAt < PROGRESS_MS || layers.size === 0) continue
      saidAt = Date.now()
      context.log(`pulling the image ${name}: ${progressOf([...layers.values()])}`)
    }
    context.signal.throwIfAborted()
  } finally {
    context.signal.removeEventListener('abort', stop)
  }
}

function progressOf(layers: readonly { readonly current: number; readonly total: number }[]): string {
  const sum = (key: 'current' | 'total'): string =>
    (layers.reduce((total, layer) => total + layer[key], 0) / MIB).toFixed(1)
  return `${sum('current')} of ${sum('total')} MiB in ${layers.length} layers`
}
