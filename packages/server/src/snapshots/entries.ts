import { Readable } from 'node:stream'
import type { ArtifactStore } from '@scanfarm/contracts'
import type { PageOf, PageRequest, Store } from '@scanfarm/store'
import { entryName } from './entry-name.ts'

/** Records of a list that are in memory at once. */
const PAGE = 500
/** Most files: the names of all stand at the end of a zip, so that they are in memory. */
const MAX_FILES = 20_000

/** One file of a snapshot; opened when its turn comes. Undefined: its content is no longer kept. */
export interface Entry {
  readonly name: string
  readonly at: Date
  open(): Promise<Readable | undefined>
}

interface Sources {
  readonly store: Pick<Store, 'runs' | 'assets' | 'vulnerabilities'>
  readonly artifacts: ArtifactStore
}

/** What a workspace has: its records as JSON lines, then its files, of each path the newest. */
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
  yield lines('assets', (page) => assets.list({ workspaces: [workspace] }, page))
  yield lines('vulnerabilities', (page) => vulnerabilities.list({ workspaces: [workspace] }, page))
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
