import { Readable } from 'node:stream'
import type { Artifact, ArtifactStore } from '@scanfarm/contracts'
import type { PageOf, PageRequest, Store } from '@scanfarm/store'

/** Records in memory at once. */
const PAGE = 500
/** Maximum files: the names of all files are written at the end of a zip and kept in memory until then. */
const MAX_FILES = 20_000

/** One file of a snapshot, opened when it is written. `open` returns undefined if its content no longer exists. */
export interface Entry {
  readonly name: string
  readonly at: Date
  open(): Promise<Readable | undefined>
}

interface Sources {
  readonly store: Pick<Store, 'runs' | 'assets' | 'vulnerabilities'>
  readonly artifacts: ArtifactStore
}

/** The records of a workspace as JSON lines, then its files: the newest for each path. */
export async function* entriesOf(
  { store, artifacts }: Sources,
  workspace: string,
  maxFiles = MAX_FILES,
): AsyncGenerator<Entry, void> {
  const { runs, assets, vulnerabilities } = store
  const counts: Record<string, number> = {}
  const lines = (name: string, read: (page: PageRequest) => Promise<PageOf<object>>): Entry => ({
    name: `${name}.jsonl`,
    at: new Date(),
    open: async () => Readable.from(jsonLines(read, (count) => (counts[name] = count))),
  })
  yield lines('runs', (page) => runs.list({ workspace }, page))
  yield lines('assets', (page) => assets.list({ workspace: [workspace] }, page))
  yield lines('vulnerabilities', (page) => vulnerabilities.list({ workspace: [workspace] }, page))
  let files = 0
  let leftOut = 0
  let missing = 0
  const names = new Set<string>()
  for await (const found of everyPage((page) => runs.allArtifacts({ workspaces: [workspace] }, page))) {
    for (const artifact of found) {
      const name = `files/${entryName(artifact, workspace)}`
      if (names.has(name)) continue
      if (names.size >= maxFiles) {
        leftOut += 1
        continue
      }
      names.add(name)
      yield {
        name,
        at: new Date(artifact.created_at),
        open: async () => {
          const content = await artifacts.get(artifact.store_key)
          if (content === undefined) missing += 1
          else files += 1
          return content?.body
        },
      }
    }
  }
  const made = { workspace, made_at: new Date().toISOString() }
  yield {
    name: 'snapshot.json',
    at: new Date(),
    open: async () =>
      Readable.from([
        `${JSON.stringify({ ...made, ...counts, files, files_no_longer_kept: missing, files_left_out: leftOut })}\n`,
      ]),
  }
}

async function* everyPage<T>(read: (page: PageRequest) => Promise<PageOf<T>>): AsyncGenerator<readonly T[]> {
  for (let cursor: string | undefined; ;) {
    const page = await read({ offset: 0, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    yield page.data
    cursor = page.nextCursor
    if (cursor === undefined) return
  }
}

async function* jsonLines(
  read: (page: PageRequest) => Promise<PageOf<object>>,
  counted: (count: number) => void,
): AsyncGenerator<string> {
  let count = 0
  for await (const page of everyPage(read)) {
    count += page.length
    counted(count)
    for (const record of page) yield `${JSON.stringify(record)}\n`
  }
}

/**
 * File name of an artifact in a snapshot: its path below the workspace, without segments that leave it, absolute paths
 * or characters that are special to file systems. A folder is stored as a tar file.
 */
export const entryName = (
  { artifact_path: path, content_type: type }: Pick<Artifact, 'artifact_path' | 'content_type'>,
  workspace: string,
): string => {
  const below = `/${workspace}/`
  const place = path.indexOf(below)
  const parts = (place === -1 ? path : path.slice(place + below.length))
    // Control characters, what separates folders or drives elsewhere, and half surrogates.
    .toWellFormed()
    .replaceAll(/[\p{Cc}\\:*?"<>|]/gu, '_')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map((part) => (part === '..' ? '_' : part))
  return `${parts.join('/') || 'unnamed'}${type === 'folder' ? '.tar' : ''}`
}
