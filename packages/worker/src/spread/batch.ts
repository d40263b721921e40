import type { LoopBatch, PartOfBatch } from '@scanfarm/contracts'
import { Mask, mergedRanges, type BatchAnswer, type BatchWork } from '@scanfarm/engine'
import { Contents } from '../resume/contents.ts'
import { putObject, readObject } from '../resume/entries.ts'
import type { WorkingDirectory } from '../run/working-directory.ts'
import type { ExecutorLimits } from '../slots/limits.ts'
import type { ExecutorOptions } from '../slots/options.ts'
import type { Session } from '../slots/session.ts'
import { BatchNotes } from './batch-notes.ts'
import { restoreAll, storeChanges } from './loop-files.ts'
import { moved, movedBytes } from '../workspaces/moved.ts'
import { removeWorkFolder } from '../workspaces/work-folders.ts'
import { answerKey, ITEMS_A_MARK, type StoredAnswer, type StoredLoop } from './stored-loop.ts'

export interface OpenBatch {
  readonly run: StoredLoop['run']
  readonly work: BatchWork
  /** Stores what the run of the loop needs. */
  finish(): Promise<void>
}

/** Undefined: the run executes its workflow. Gives a batch the files of the run whose items it executes. */
export const openBatch = async (
  session: Session,
  directory: WorkingDirectory,
  { artifacts, operatorInput }: ExecutorOptions,
  { resumeBytes }: ExecutorLimits,
): Promise<OpenBatch | undefined> => {
  const { batch, attempt } = session.run
  if (batch === undefined || batch === null) return undefined
  const { folders } = session
  const stored = JSON.parse(await readObject(artifacts, batch.state)) as StoredLoop
  const state = moved(stored.state, stored.folders, folders)
  const secrets = new Mask(operatorInput?.secrets ?? [])
  const contents = new Contents({
    artifacts,
    prefix: answerKey(batch.state, batch.first, attempt).replace(/\.json$/, ''),
    mask: secrets,
    maxBytes: resumeBytes,
  })
  const owner = await directory.open()
  const kept = directory.takeKept()
  const files = await restoreAll(contents, folders, stored, owner, kept)
  // What cannot be removed now is removed with the folders of the batch.
  if (kept !== undefined) await removeWorkFolder(kept.kept).catch(() => undefined)
  const notes = new BatchNotes(state.key)
  session.notes = notes
  let answer: BatchAnswer | undefined
  let part: PartOfBatch | undefined
  return {
    run: stored.run,
    work: {
      state,
      enough: session.enough,
      items: () => itemsOf(session, artifacts, stored),
      answer(loopAnswer, begun, open) {
        answer = loopAnswer
        if (session.enough.aborted && loopAnswer.skip === undefined) part = partOf(batch, begun, open)
      },
    },
    async finish() {
      if (answer === undefined) throw new Error('the batch has not executed its items')
      const { first, last } = part ?? batch
      // Nothing is done: it is handed back.
      if (first > last) return session.stop('drain')
      const key = answerKey(batch.state, first, attempt)
      const found: StoredAnswer = {
        answer,
        folders: { attempt: folders.attempt, workspace: folders.workspace },
        rows: notes.rows,
        artifacts: notes.artifacts,
        files: await storeChanges(contents, folders, files),
      }
      await putObject(artifacts, key, JSON.stringify(found), secrets, 'what it answers')
      session.part = part
      directory.isDone = true
    },
  }
}

/** Undefined: all items have ended. */
const partOf = (
  { first, last }: Pick<LoopBatch, 'first' | 'last'>,
  begun: number,
  open: readonly number[],
): PartOfBatch | undefined => {
  const next = Math.max(first, begun)
  const single = open.map((index) => [index, index] as const)
  const rest = mergedRanges(next > last ? single : [...single, [next, last]])
  const [earliest, latest] = [rest[0], rest.at(-1)]
  if (earliest === undefined || latest === undefined) return undefined
  return {
    first: earliest[0] === first ? earliest[1] + 1 : first,
    last: latest[1] === last ? latest[0] - 1 : last,
    rest,
  }
}

const itemsOf = async function* (
  { run: { batch }, folders }: Session,
  artifacts: ExecutorOptions['artifacts'],
  stored: StoredLoop,
): AsyncGenerator<{ item: string; index: number }> {
  const { first = 0, last = -1 } = batch ?? {}
  const mark = Math.floor(first / ITEMS_A_MARK)
  const { marks } = stored
  const end = marks[Math.floor(last / ITEMS_A_MARK) + 1] ?? marks.at(-1) ?? 0
  const found = await artifacts.get(stored.items, { start: marks[mark] ?? 0, end: end - 1 })
  if (found === undefined) throw new Error(`the artifact store has no ${stored.items} any more`)
  let index = mark * ITEMS_A_MARK
  for await (const item of linesIn(movedBytes(found.body, stored.folders, folders))) {
    if (index > last) return
    if (index >= first) yield { item, index }
    index += 1
  }
}

const linesIn = async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let kept = Buffer.alloc(0)
  for await (const chunk of bytes) {
    const all = Buffer.concat([kept, chunk])
    const end = all.lastIndexOf(10) + 1
    kept = all.subarray(end)
    if (end > 0) yield* all.toString('utf8', 0, end - 1).split('\n')
  }
}
