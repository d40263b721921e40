import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { pack, type Pack } from 'tar-stream'
import { engineMessage, provideImage, statusOf } from '@scanfarm/runners'
import { errorText } from '@scanfarm/platform'
import { CloudError } from '../../provider.ts'
import { collectImageFiles, type ImageFile } from './image-files.ts'

const REPOSITORY = 'scanfarm-machine'
const TAG_LENGTH = 16

/** Id of the machines' image: the named one, pulled if it is missing, or one built from this system's files. */
export async function imageOf(
  docker: Docker,
  named: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (named !== undefined) return await namedImage(docker, named, signal)
  const files = await collectImageFiles()
  const name = `${REPOSITORY}:${tagOf(files)}`
  return (await findImage(docker, name)) ?? (await importImage(docker, name, files, signal))
}

/** `refused`: the name is probably wrong, so retries would not help. */
async function namedImage(docker: Docker, name: string, signal: AbortSignal): Promise<string> {
  try {
    return (await provideImage(docker, name, { signal, log: () => {} })).id
  } catch (error) {
    signal.throwIfAborted()
    throw new CloudError('refused', errorText(error), { cause: error })
  }
}

/** Changes with every file. */
function tagOf(files: readonly ImageFile[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${JSON.stringify(file)}\n`)
  return hash.digest('hex').slice(0, TAG_LENGTH)
}

async function findImage(docker: Docker, name: string): Promise<string | undefined> {
  try {
    return (await docker.getImage(name).inspect()).Id
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

async function importImage(
  docker: Docker,
  name: string,
  files: readonly ImageFile[],
  signal: AbortSignal,
): Promise<string> {
  const [repo, tag] = name.split(':')
  const answer = await docker.importImage(packFiles(files, signal), { repo, tag })
  for await (const line of createInterface({ input: answer })) throwIfFailed(line)
  const id = await findImage(docker, name)
  if (id === undefined)
    throw new CloudError('unavailable', `the engine accepted the image ${name} but does not have it`)
  return id
}

/** The engine responds 200 before the import starts and reports errors as lines of the body. */
function throwIfFailed(line: string): void {
  const { error } = JSON.parse(line) as { error?: unknown }
  if (error !== undefined)
    throw new CloudError('unavailable', `the image cannot be built: ${engineMessage(error)}`)
}

function packFiles(files: readonly ImageFile[], signal: AbortSignal): Pack {
  const stream = pack()
  addFiles(stream, files, signal).then(
    () => stream.finalize(),
    (error: unknown) => stream.destroy(new Error(errorText(error), { cause: error })),
  )
  return stream
}

async function addFiles(stream: Pack, files: readonly ImageFile[], signal: AbortSignal): Promise<void> {
  for (const file of files) {
    signal.throwIfAborted()
    const header = { name: file.path.slice(1), mode: file.mode }
    if (file.kind === 'folder') stream.entry({ ...header, type: 'directory' })
    else if (file.kind === 'link') stream.entry({ ...header, type: 'symlink', linkname: file.to })
    else if (file.kind === 'text') stream.entry(header, file.text)
    else if (file.size === 0) stream.entry(header, '')
    else {
      const entry = stream.entry({ ...header, size: file.size })
      await pipeline(createReadStream(file.from, { end: file.size - 1 }), entry, { signal })
    }
  }
}
