import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { EventReceiver } from '../event-receiver/receiver.ts'
import { RELOAD_MS, type TriggerSet } from '../event-receiver/registry.ts'
import { scheduledFire } from '../event-receiver/scheduled-fire.ts'
import type { ReadyTrigger, WatchRule } from '../event-receiver/trigger.ts'
import { scanFiles, type FoundFile } from './scan.ts'

interface Watch {
  readonly path: string
  /** State of each file that was dealt with. */
  readonly known: Map<string, string>
  /** New states, and since when they have been so. */
  readonly settling: Map<string, { readonly mark: string; readonly since: number }>
}

/**
 * Fires watch triggers: a file that is new or was changed fires once when it has been quiet for a while. What was there
 * before the trigger does not fire. The database knows which states were dealt with, over restarts and masters.
 */
export class Watcher {
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

  /** One turn; `now` in milliseconds, of any clock that does not go back. */
  async lookOnce(now: number, signal: AbortSignal): Promise<void> {
    const set = await this.#receiver.registry.current(RELOAD_MS)
    const { ready } = set
    const live = new Set<string>()
    for (const trigger of ready) {
      if (!trigger.enabled || trigger.watch === undefined) continue
      signal.throwIfAborted()
      live.add(trigger.key)
      await this.#look(trigger, trigger.watch, now, signal)
    }
    const gone = [...this.#watches.keys()].filter((key) => !live.has(key))
    const off = set === this.#set ? [] : ready.flatMap((one) => (one.watch && !one.enabled ? [one.key] : []))
    this.#set = set
    await this.#triggers.stopClocks([...gone, ...off])
    for (const key of gone) this.#watches.delete(key)
  }

  async #look(trigger: ReadyTrigger, rule: WatchRule, now: number, signal: AbortSignal): Promise<void> {
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
      this.#log.warn('a watch could not be looked at', { trigger: trigger.key, error })
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
    const occasion = {
      fireKey: `file:${createHash('sha256').update(`${path}\n${mark}`).digest('hex')}`,
      at: new Date(),
      data: { path, name: basename(path), folder: dirname(path), size, modified: modified.toISOString() },
    }
    const fire = await scheduledFire(this.#receiver.plan, trigger, occasion, signal)
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

/** Whether a state that is new has been the same for long enough; notes it when it is seen for the first time. */
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
