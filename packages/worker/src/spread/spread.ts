import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { resumePrefix, type ArtifactFound, type Backoff, type LoopBatch } from '@scanfarm/contracts'
import { Mask, type SpreadLoop, type SpreadService } from '@scanfarm/engine'
import { errorText, pause, retry } from '@scanfarm/platform'
import { Contents } from '../resume/contents.ts'
import { ANY, putObject, readObject } from '../resume/entries.ts'
import type { Journal } from '../resume/journal.ts'
import type { WorkingDirectory } from '../run/working-directory.ts'
import type { ExecutorLimits } from '../slots/limits.ts'
import type { ExecutorOptions } from '../slots/options.ts'
import type { SlotPool } from '../slots/slot-pool.ts'
import type { Session } from '../slots/session.ts'
import { joinChanges, storeAll } from './loop-files.ts'
import { moved, movedText } from '../workspaces/moved.ts'
import { answerKey, ITEMS_A_MARK, type StoredAnswer, type StoredLoop } from './stored-loop.ts'

export interface SpreadContext {
  readonly options: ExecutorOptions
  readonly limits: ExecutorLimits
  readonly backoff: Backoff
  readonly slots: Pick<SlotPool, 'rest'>
}

/** Batches are looked at after this part of the time that passed, within bounds. */
const PART = 0.02
const LEAST_PAUSE_MS = 100
const MOST_PAUSE_MS = 2_000

const isOpen = ({ status }: LoopBatch): boolean => ['pending', 'queued', 'running'].includes(status)

/** Lets other workers execute items of the loops of a run: each batch is a run that the queue offers to all workers. */
export class Spread implements SpreadService {
  readonly #session: Session
  readonly #journal: Journal
  readonly #directory: WorkingDirectory
  readonly #context: SpreadContext
  readonly #secrets: Mask
  /** How often each loop ran in this attempt. */
  readonly #times = new Map<string, number>()

  constructor(session: Session, journal: Journal, directory: WorkingDirectory, context: SpreadContext) {
    this.#session = session
    this.#journal = journal
    this.#directory = directory
    this.#context = context
    this.#secrets = new Mask(context.options.operatorInput?.secrets ?? [])
  }

  async run(loop: SpreadLoop): Promise<string | undefined> {
    const { key } = loop.state
    const { recorder } = this.#session
    if (!(await this.#journal.checkpoint(key))) {
      recorder.log('info', `the items of ${loop.state.step.name} are executed here: the run is not resumable`)
      return undefined
    }
    using rest = this.#context.slots.rest(this.#session)
    if (rest === undefined) return undefined
    let stored: { readonly key: string; readonly count: number }
    try {
      stored = await this.#store(loop)
    } catch (error) {
      if (loop.signal.aborted) return ''
      recorder.log('warn', `the items of ${loop.state.step.name} are executed here: ${errorText(error)}`)
      return undefined
    }
    if (stored.count < 2) return undefined
    const batches = await this.#ended(loop, stored.key, stored.count)
    if (batches === undefined) return ''
    const lost = batches.find(({ status }) => status !== 'completed')
    if (lost !== undefined) {
      await this.#batches(loop, '', 0)
      const items = `items ${lost.first + 1} to ${lost.last + 1}`
      return `the run ${lost.runUuid} of ${items} has ${lost.status}: ${lost.error}`
    }
    await this.#join(loop, stored.key, batches)
    return ''
  }

  /** Stores what the batches need. The key depends on what they depend on, besides files, which follow from earlier steps. */
  async #store({ state, items, begin, size, workers }: SpreadLoop): Promise<{ key: string; count: number }> {
    const { run, folders } = this.#session
    const { artifacts } = this.#context.options
    const time = (this.#times.get(state.key) ?? 0) + 1
    this.#times.set(state.key, time)
    const hash = createHash('sha256')
    hash.update(JSON.stringify([moved({ state }, folders, ANY), time, size, workers]))
    const marks: number[] = []
    let [count, bytes] = [0, 0]
    for await (const item of items()) {
      if (count % ITEMS_A_MARK === 0) marks.push(bytes)
      bytes += Buffer.byteLength(item) + 1
      count += 1
      hash.update(movedText(item, String, folders, ANY)).update('\n')
    }
    marks.push(bytes)
    // All attempts find the same.
    const prefix = `${resumePrefix({ runUuid: run.runUuid, attempt: 1 })}/loops/${hash.digest('hex')}`
    const key = `${prefix}.json`
    if ((await artifacts.size(key)) !== undefined) return { key, count }
    await begin()
    await artifacts.put(`${prefix}.items`, Readable.from(linesOf(items())))
    const { runId, runUuid, attempt, jobId } = run
    const stored: StoredLoop = {
      state,
      run: { runId, runUuid, attempt, jobId },
      folders: { attempt: folders.attempt, workspace: folders.workspace },
      files: await storeAll(this.#contents(prefix), folders, this.#journal),
      items: `${prefix}.items`,
      marks,
    }
    await putObject(artifacts, key, JSON.stringify(stored), this.#secrets, 'a variable')
    return { key, count }
  }

  #contents(prefix: string): Contents {
    const { options, limits } = this.#context
    const { artifacts } = options
    return new Contents({ artifacts, prefix, mask: this.#secrets, maxBytes: limits.resumeBytes })
  }

  async #batches(loop: SpreadLoop, state: string, count: number): Promise<readonly LoopBatch[]> {
    const { options, backoff } = this.#context
    const { key } = loop.state
    const { size, workers } = loop
    const { signal, key: run, recorder } = this.#session
    const step = recorder.stepId(key)
    return await retry(() => options.store.spread(run, { key, step, state, count, size, workers }), {
      backoff,
      signal,
      shouldRetry: () => true,
    })
  }

  /** Undefined: the loop was stopped. */
  async #ended(loop: SpreadLoop, state: string, count: number): Promise<readonly LoopBatch[] | undefined> {
    const from = performance.now()
    const { signal, recorder } = this.#session
    let size = loop.size ?? Infinity
    while (!loop.signal.aborted) {
      const batches = await this.#batches(loop, state, count).catch((error: unknown) => {
        if (signal.aborted) return undefined
        throw error
      })
      if (batches === undefined) return undefined
      const largest = Math.max(...batches.map(({ first, last }) => last - first + 1))
      if (largest > size) {
        const name = loop.state.step.name
        recorder.log('info', `${name}: batches of ${largest} items, not ${size}: 2,000 batches are the most`)
        size = largest
      }
      if (!batches.some(isOpen) || batches.some(({ status }) => ['failed', 'cancelled'].includes(status)))
        return batches.toSorted(
          (one, other) => Number(isOpen(one)) - Number(isOpen(other)) || one.first - other.first,
        )
      const ms = (performance.now() - from) * PART
      await pause(Math.min(Math.max(ms, LEAST_PAUSE_MS), MOST_PAUSE_MS), loop.signal)
    }
    // Only its step has ended: the end of a run ends all batches, and a later attempt finds them.
    if (!signal.aborted) await this.#batches(loop, '', 0)
    return undefined
  }

  async #join(
    { state: { key }, mostRows, nextSeq, answered }: SpreadLoop,
    state: string,
    batches: readonly LoopBatch[],
  ): Promise<void> {
    const { folders, recorder } = this.#session
    const { artifacts } = this.#context.options
    const loop = JSON.parse(await readObject(artifacts, state)) as StoredLoop
    const answers: Pick<StoredAnswer, 'files' | 'folders'>[] = []
    const artifactsFound: ArtifactFound[] = []
    let rows = 0
    for (const { first, attempt, runUuid } of batches) {
      const text = await readObject(artifacts, answerKey(state, first, attempt))
      const found = JSON.parse(text) as StoredAnswer
      const { answer, rows: failed, artifacts: made } = found
      const here = moved({ answer, rows: failed, artifacts: made }, found.folders, folders)
      answers.push({ files: found.files, folders: found.folders })
      artifactsFound.push(...here.artifacts)
      await answered(here.answer)
      for (const { counts, record } of here.rows.slice(0, mostRows - rows)) {
        rows += 1
        const taken = { ...record, logFile: '', takenFrom: { runUuid, attempt } }
        this.#journal.addRows(key, [{ key: `${key}/failed-${rows}`, counts, record: taken }], nextSeq)
      }
    }
    await joinChanges(this.#contents(state), folders, loop, answers, await this.#directory.open(), (path) =>
      recorder.log('warn', `several batches have written ${path}: it is as the last of them left it`),
    )
    for (const one of artifactsFound) recorder.artifact(one)
  }
}

const linesOf = async function* (items: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const item of items) yield Buffer.from(`${item}\n`)
}
