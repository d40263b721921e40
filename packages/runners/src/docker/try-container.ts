import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { fieldOf } from '../error-fields.ts'
import { answer, connectEngine, engineMessage, reachEngine } from './engine.ts'
import type { EngineAddress } from './engine-address.ts'

/**
 * Starts a container on the engine, of an empty image that is imported for it: the init process
 * of the engine starts and finds no program. Resolves with the name and version of the engine; rejects with the engine's reason if a container
 * cannot be started. Leaves no image and no container behind.
 */
export async function tryContainer(address: EngineAddress): Promise<string> {
  const docker = await connectEngine(address)
  await reachEngine(docker, address)
  const version: unknown = await answer(docker.version())
  const [component] = asList(fieldOf(version, 'Components'))
  const engine = `${text(fieldOf(component, 'Name')) || 'engine'} ${text(fieldOf(version, 'Version'))}`
  const empty = pack()
  empty.finalize()
  const imported = await answer(docker.importImage(empty))
  const image = imageOf(await readText(imported))
  try {
    const container = await answer(
      docker.createContainer({
        Image: image,
        Cmd: ['/nothing'],
        HostConfig: { NetworkMode: 'none', Init: true },
      }),
    )
    try {
      await answer(container.start())
    } catch (error) {
      throw new Error(`${engine} starts no container: ${engineMessage(error)}`, { cause: error })
    } finally {
      await answer(container.remove({ force: true }))
    }
  } finally {
    await answer(docker.getImage(image).remove({ force: true }))
  }
  return engine
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const readText = async (stream: NodeJS.ReadableStream): Promise<string> =>
  Buffer.concat(
    await Readable.from(stream)
      .map((chunk) => Buffer.from(chunk))
      .toArray(),
  ).toString()

/** The id of the image in the answer of an import: lines of JSON with `status`. */
const imageOf = (answered: string): string => {
  for (const line of answered.split('\n')) {
    if (line.trim() === '') continue
    const parsed: unknown = JSON.parse(line)
    const [status, error] = [fieldOf(parsed, 'status'), fieldOf(parsed, 'error')]
    if (typeof error === 'string') throw new Error(`the engine imports no image: ${error}`)
    if (typeof status === 'string' && status.startsWith('sha256:')) return status
  }
  throw new Error('the engine names no image after the import of one')
}
