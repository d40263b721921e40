import { createHash } from 'node:crypto'
import type { Store } from '@scanfarm/store'
import { scheduledTimes, nextFiring } from './cron-times.ts'
import type { EventReceiver } from './event-receiver.ts'
import { planScheduled } from './plan-scheduled.ts'
import { RELOAD_MS, type TriggerSet } from './trigger-registry.ts'
import type { CronRule, ReadyTrigger } from './trigger.ts'

interface Clock {
  readonly specHash: string
  /** Times up to this one are decided, as far as this master knows. */
  readonly handledUntil: Date
  readonly next: Date | null
}

/**
 * Fires cron triggers. The database stores up to which time each trigger is decided. A master advances that time in the
 * transaction that creates the jobs, so only one master succeeds, and missed times are known.
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

  /** One turn: fires everything that is due at `now`. */
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

  /** Disabled and removed triggers start again from the current time when they return. */
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
    const times = scheduledTimes(rule, clock.handledUntil, now)
    const fires = await Promise.all(
      times.map((at) =>
        planScheduled(
          this.#receiver.planning,
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

const hashOf = ({ schedule, timezone, delayMs }: CronRule): string =>
  createHash('sha256')
    .update(`${schedule}\n${timezone}${delayMs === 0 ? '' : `\n${delayMs}`}`)
    .digest('hex')

const clockOf = (rule: CronRule, specHash: string, handledUntil: Date): Clock => ({
  specHash,
  handledUntil,
  next: nextFiring(rule, handledUntil),
})
