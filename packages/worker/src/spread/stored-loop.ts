import { text } from 'node:stream/consumers'
import type { ArtifactFound, ArtifactStore } from '@scanfarm/contracts'
import type { BatchAnswer, LoopState } from '@scanfarm/engine'
import type { KeptEntry, KeptRow } from '../resume/entries.ts'
import type { RunFolders } from '../workspaces/work-folders.ts'

type Folders = Pick<RunFolders, 'attempt' | 'workspace'>

/** What a run stores for the batches of a loop, as JSON. */
export interface StoredLoop {
  readonly state: LoopState
  readonly run: {
    readonly runId: number
    readonly runUuid: string
    readonly attempt: number
    readonly jobId: string
  }
  /** Texts of the state and of files name them. */
  readonly folders: Folders
  /** By path. */
  readonly files: Readonly<Record<string, KeptEntry>>
  readonly items: string
  /** Where every `ITEMS_A_MARK`th item begins, and the end. */
  readonly marks: readonly number[]
}

/** `isRest`: the bytes after those that the file had when the loop began. */
export type Change = (KeptEntry & { readonly isRest?: boolean }) | null

/** What a batch stores for its run, as JSON. */
export interface StoredAnswer {
  readonly answer: BatchAnswer
  readonly folders: Folders
  readonly rows: readonly KeptRow[]
  readonly artifacts: readonly ArtifactFound[]
  /** Changed files by path; null: it was removed. */
  readonly files: Readonly<Record<string, Change>>
}

export const ITEMS_A_MARK = 1_024

export const answerKey = (loop: string, first: number, attempt: number): string =>
  loop.replace(/\.json$/, `/${first}-${attempt}.json`)

export const readJson = async (artifacts: Pick<ArtifactStore, 'get'>, key: string): Promise<string> => {
  const found = await artifacts.get(key)
  if (found === undefined) throw new Error(`the artifact store has no ${key} any more`)
  return await text(found.body)
}

const inJson = (path: string): string => JSON.stringify(path).slice(1, -1)

/** A copy of a JSON value in which the folders `to` replace the folders `from`. */
export const moved = <T>(value: T, from: Folders, to: Folders): T =>
  JSON.parse(movedText(JSON.stringify(value), inJson, from, to)) as T

export const movedText = (
  found: string,
  form: (path: string) => string,
  from: Folders,
  to: Folders,
): string =>
  found
    .replaceAll(form(from.attempt), () => form(to.attempt))
    .replaceAll(form(from.workspace), () => form(to.workspace))

/** The bytes, with the folders `to` in place of the folders `from`. */
export const movedBytes = async function* (
  source: AsyncIterable<Buffer>,
  from: Folders,
  to: Folders,
): AsyncGenerator<Buffer> {
  const latin = (path: string): string => Buffer.from(path).toString('latin1')
  const names = new Map([
    [latin(from.attempt), latin(to.attempt)],
    [latin(from.workspace), latin(to.workspace)],
  ])
  const longest = Math.max(...[...names.keys()].map(({ length }) => length))
  const pattern = new RegExp([...names.keys()].map(RegExp.escape).join('|'), 'g')
  let kept = ''
  const take = (all: string, until: number): Buffer => {
    let [at, done] = [0, '']
    for (const { index, 0: name } of all.matchAll(pattern)) {
      if (index >= until) break
      done += all.slice(at, index) + (names.get(name) ?? name)
      at = index + name.length
    }
    const end = Math.max(at, until)
    kept = all.slice(end)
    return Buffer.from(done + all.slice(at, end), 'latin1')
  }
  for await (const chunk of source) {
    const all = kept + chunk.toString('latin1')
    // The beginning of a name may be at the end.
    yield take(all, Math.max(0, all.length - longest + 1))
  }
  yield take(kept, kept.length)
}
