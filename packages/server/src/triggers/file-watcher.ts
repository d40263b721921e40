import { createHash } from 'node:crypto'
import { glob, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { EventReceiver } from './event-receiver.ts'
import { planScheduled } from './plan-scheduled.ts'
import { RELOAD_MS, type TriggerSet } from './trigger-registry.ts'
import type { ReadyTrigger, WatchRule } from './trigger.ts'

/** Maximum files of one watch. */
export const MAX_FILES = 10_000

export interface FoundFile {
  /** Changes whenever the file changes. */
  readonly mark: string
  readonly size: number
  readonly modified: Date
}

/** The regular files that a path or glob matches; for a folder, the files in it. Rejects if there are too many. */
export async function scanFiles(pattern: string): Promise<Map<string, FoundFile>> {
  const found = new Map<string, FoundFile>()
  const isFolder = (await stat(pattern).catch(() => undefined))?.isDirectory() === true
  // The name of a folder may contain glob characters.
  for await (const name of isFolder ? glob('*', { cwd: pattern }) : glob(pattern)) {
    const path = isFolder ? join(pattern, name) : name
    const about = await stat(path).catch(() => undefined)
    if (about?.isFile() !== true) continue
    if (found.size >= MAX_FILES) throw new Error(`${pattern} matches more than ${MAX_FILES} files`)
    const mark = `${Math.trunc(about.mtimeMs)}-${about.size}`
    found.set(path, { mark, size: about.size, modified: about.mtime })
  }
  return found
}

interface Watch {
  readonly path: string
  /** The state of each processed file. */
  readonly known: Map<string, string>
  /** New states and when each was first seen. */
  readonly settling: Map<string, { readonly mark: string; readonly since: number }>
}

/**
 * Fires watch triggers: a new or changed file fires once after it has not changed for a while. Files that exist before
 * the trigger do not fire. Processed states are stored in the database, so that restarts and other masters do not
 * repeat them.
 */
export class FileWatcher {
  readonly #receiver: EventReceiver
  readonly #triggers: Store['triggers']
  readonly #log: Logger
  readonly #watches = new Map<string, Watch>()
  #set: TriggerSet | undefined

  constructor(receiver: EventReceiver, triggers: Store['triggers'], log: Logger) {
    this.#receiver = receiver
    this.#triggers = triggers
    this.#log = log
  }

  /** One turn; `now` is in milliseconds of a monotonic clock. */
  async scanOnce(now: number, signal: AbortSignal): Promise<void> {
    const set = await this.#receiver.registry.current(RELOAD_MS)
    const { ready } = set
    const live = new Set<string>()
    for (const trigger of ready) {
      if (!trigger.enabled || trigger.watch === undefined) continue
      signal.throwIfAborted()
      live.add(trigger.key)
      await this.#scan(trigger, trigger.watch, now, signal)
    }
    const gone = [...this.#watches.keys()].filter((key) => !live.has(key))
    const off = set === this.#set ? [] : ready.flatMap((one) => (one.watch && !one.enabled ? [one.key] : []))
    this.#set = set
    await this.#triggers.stopClocks([...gone, ...off])
    for (const key of gone) this.#watches.delete(key)
  }

  async #scan(trigger: ReadyTrigger, rule: WatchRule, now: number, signal: AbortSignal): Promise<void> {
    try {
      const files = await scanFiles(rule.path)
      const watch = await this.#watch(trigger.key, rule, files)
      for (const [path, file] of files) {
        if (!hasSettled(watch, path, file, rule.settleMs, now)) continue
        await this.#fire(trigger, watch, path, file, signal)
      }
      await this.#forget(trigger.key, watch, files)
    } catch (error) {
      signal.throwIfAborted()
      this.#log.warn('a watched path could not be scanned', { trigger: trigger.key, error })
    }
  }

  async #watch(key: string, { path }: WatchRule, files: ReadonlyMap<string, FoundFile>): Promise<Watch> {
    const watch = this.#watches.get(key)
    if (watch?.path === path) return watch
    const marks = new Map([...files].map(([file, { mark }]) => [file, mark]))
    await this.#triggers.startWatch(key, createHash('sha256').update(path).digest('hex'), marks)
    const started = { path, known: await this.#triggers.watchedFiles(key), settling: new Map() }
    this.#watches.set(key, started)
    return started
  }

  async #fire(
    trigger: ReadyTrigger,
    watch: Watch,
    path: string,
    { mark, size, modified }: FoundFile,
    signal: AbortSignal,
  ): Promise<void> {
    const fireContext = {
      fireKey: `file:${createHash('sha256').update(`${path}\n${mark}`).digest('hex')}`,
      at: new Date(),
      data: { path, name: basename(path), folder: dirname(path), size, modified: modified.toISOString() },
    }
    const fire = await planScheduled(this.#receiver.planning, trigger, fireContext, signal)
    const fired = await this.#triggers.fireWatch(trigger.key, { path, mark }, fire)
    watch.known.set(path, mark)
    watch.settling.delete(path)
    await this.#receiver.settle((fired ?? []).filter(({ outcome }) => outcome !== 'repeated'))
  }

  async #forget(key: string, watch: Watch, files: ReadonlyMap<string, FoundFile>): Promise<void> {
    const gone = [...watch.known.keys()].filter((path) => !files.has(path))
    await this.#triggers.forgetFiles(key, gone)
    for (const path of gone) watch.known.delete(path)
    for (const path of watch.settling.keys()) if (!files.has(path)) watch.settling.delete(path)
  }
}

/** Whether a new state has been stable for long enough; records it when it is first seen. */
const hasSettled = (
  { known, settling }: Watch,
  path: string,
  { mark }: FoundFile,
  settleMs: number,
  now: number,
): boolean => {
  if (known.get(path) === mark) return false
  const seen = settling.get(path)
  if (seen?.mark === mark) return now - seen.since >= settleMs
  settling.set(path, { mark, since: now })
  return settleMs === 0
}
