import { createHash } from 'node:crypto'
import type { Store } from '@scanfarm/store'
import { nextTime } from '../event-receiver/cron-times.ts'
import type { EventReceiver } from '../event-receiver/receiver.ts'
import { RELOAD_MS, type TriggerSet } from '../event-receiver/registry.ts'
import { scheduledFire } from '../event-receiver/scheduled-fire.ts'
import type { CronRule, ReadyTrigger } from '../event-receiver/trigger.ts'
import { dueTimes } from './due.ts'

interface Clock {
  readonly specHash: string
  /** Firings up to then are decided, as far as this master knows. */
  readonly handledUntil: Date
  readonly next: Date | null
}

/**
 * Fires cron triggers. The database keeps how far each trigger's firings are decided; a master moves that mark on in the
 * transaction that makes the jobs, and of all masters one succeeds. What was missed is seen by the same mark.
 */
export class Scheduler {
  readonly #receiver: EventReceiver
  readonly #triggers: Store['triggers']
  readonly #clocks = new Map<string, Clock>()
  #set: TriggerSet | undefined

  constructor(receiver: EventReceiver, triggers: Store['triggers']) {
    this.#receiver = receiver
    this.#triggers = triggers
  }

  /** One turn: everything that is due at `now`. */
  async tickOnce(now: Date, signal: AbortSignal): Promise<void> {
    const set = await this.#receiver.registry.current(RELOAD_MS)
    const live = new Map(
      set.ready.flatMap((trigger) =>
        trigger.enabled && trigger.cron ? [[trigger.key, trigger] as const] : [],
      ),
    )
    if (set !== this.#set) await this.#stop(set, live)
    this.#set = set
    for (const trigger of live.values()) {
      signal.throwIfAborted()
      if (trigger.cron) await this.#tick(trigger, trigger.cron, now, signal)
    }
  }

  /** Triggers that are off or gone begin anew when they come back. */
  async #stop(set: TriggerSet, live: ReadonlyMap<string, ReadyTrigger>): Promise<void> {
    const off = set.ready.flatMap(({ key, cron, enabled }) => (cron && !enabled ? [key] : []))
    const gone = [...this.#clocks.keys()].filter((key) => !live.has(key))
    await this.#triggers.stopClocks([...new Set([...off, ...gone])])
    for (const key of gone) this.#clocks.delete(key)
  }

  async #tick(trigger: ReadyTrigger, rule: CronRule, now: Date, signal: AbortSignal): Promise<void> {
    const { key } = trigger
    const specHash = hashOf(rule)
    const known = this.#clocks.get(key)
    const clock = known?.specHash === specHash ? known : await this.#read(key, rule, specHash, now)
    if (clock.next === null || clock.next > now) return
    const times = dueTimes(rule, clock.handledUntil, now)
    const fires = await Promise.all(
      times.map((at) =>
        scheduledFire(
          this.#receiver.plan,
          trigger,
          { fireKey: `time:${at.toISOString()}`, at, data: { schedule: rule.schedule } },
          signal,
        ),
      ),
    )
    const fired = await this.#triggers.fireCron({
      key,
      specHash,
      from: clock.handledUntil,
      until: now,
      fires,
    })
    if (fired === undefined) {
      await this.#read(key, rule, specHash, now)
      return
    }
    this.#clocks.set(key, clockOf(rule, specHash, now))
    await this.#receiver.settle(fired)
  }

  async #read(key: string, rule: CronRule, specHash: string, now: Date): Promise<Clock> {
    const clock = clockOf(rule, specHash, await this.#triggers.startClock(key, specHash, now))
    this.#clocks.set(key, clock)
    return clock
  }
}

const hashOf = ({ schedule, timezone }: CronRule): string =>
  createHash('sha256').update(`${schedule}\n${timezone}`).digest('hex')

const clockOf = (rule: CronRule, specHash: string, handledUntil: Date): Clock => ({
  specHash,
  handledUntil,
  next: nextTime(rule.schedule, rule.timezone, handledUntil),
})
