import type { Logger } from '@scanfarm/platform'
import type { ClaimedEvent, EventDraft, Fired, Store } from '@scanfarm/store'
import { Engine, TriggerLanguage, type TriggerFiles } from '@scanfarm/workflow'
import type { Catalog } from '../../catalog/catalog.ts'
import { consequenceOf, triggerEvent } from './consequence.ts'
import type { PlanParts } from './plan-firing.ts'
import { RELOAD_MS, TriggerRegistry } from './registry.ts'

/** Events that one turn takes. */
const BATCH = 50
/** A master that has died holds its events for this long. */
const LEASE_MS = 5_000
/** A filter that computes longer than this is stopped. */
const FILTER_MS = 1_000
const FILTER_BYTES = 32 << 20
/** JSON of a filter's result, and of arguments and answers of functions; this thread reads and writes it. */
const FILTER_CHARS = 1 << 20
/** Filters that run at the same time; one that does not end holds up one thread. */
const FILTER_THREADS = 2
/** Queued firings that are started in one turn. */
const START_LIMIT = 100

export interface ReceiverParts {
  readonly store: Pick<Store, 'triggers' | 'schedules' | 'runs'>
  readonly catalog: Catalog
  readonly master: boolean
  /** Whether this server takes events; without it only the scheduler fires. */
  readonly enabled: boolean
  readonly log: Logger
  /** What functions of triggers may read; missing: nothing. */
  readonly files?: () => TriggerFiles
  /** Tells the owners of runs that are to end. */
  signalCancel(runIds: readonly number[]): Promise<void>
}

/** Turns events into runs. Any number of masters may do so; each event is dealt with once. */
export class EventReceiver implements AsyncDisposable {
  readonly enabled: boolean
  /** Set while its loop turns. */
  running = false
  readonly registry: TriggerRegistry
  readonly plan: PlanParts
  readonly #parts: ReceiverParts
  readonly #engine = new Engine({
    limits: { timeMs: FILTER_MS, memoryBytes: FILTER_BYTES, resultChars: FILTER_CHARS },
    maxThreads: FILTER_THREADS,
  })

  constructor(parts: ReceiverParts) {
    this.#parts = parts
    this.enabled = parts.enabled
    this.registry = new TriggerRegistry(parts.catalog, parts.store, parts.enabled)
    this.plan = {
      catalog: parts.catalog,
      master: parts.master,
      language: new TriggerLanguage(this.#engine, parts.files),
      startedByEvent: async (runUuid) => (await parts.store.runs.find(runUuid))?.trigger_type === 'event',
    }
  }

  /** One turn: events that wait. True when there may be more. */
  async receiveOnce(signal: AbortSignal): Promise<boolean> {
    const { triggers } = this.#parts.store
    await this.registry.current(RELOAD_MS)
    const events = await triggers.claimEvents({ limit: BATCH, leaseMs: LEASE_MS })
    if (events.length === 0) return false
    // Whatever made an event wanted was there before it: triggers of a moment ago might not have it yet.
    const set = await this.registry.current()
    const failures: unknown[] = []
    for (const event of events) {
      try {
        signal.throwIfAborted()
        await this.#process(set, event, signal)
      } catch (error) {
        signal.throwIfAborted()
        // It comes again when its lease is over; the others do not wait for it.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return events.length === BATCH
  }

  async #process(
    set: Awaited<ReturnType<TriggerRegistry['current']>>,
    event: ClaimedEvent,
    signal: AbortSignal,
  ): Promise<void> {
    const consequence = await consequenceOf(this.plan, set, triggerEvent(event, event.createdAt), signal)
    // Filters were stopped: the event is left to whoever comes next.
    signal.throwIfAborted()
    await this.settle((await this.#parts.store.triggers.processEvent(event.id, consequence)) ?? [])
  }

  /** Deals with a new event at once; resolves with the names of the workflows that got runs. */
  async emit(event: EventDraft, signal: AbortSignal): Promise<string[]> {
    const set = await this.registry.current()
    const consequence = await consequenceOf(
      this.plan,
      set,
      triggerEvent(event, new Date().toISOString()),
      signal,
    )
    signal.throwIfAborted()
    const fired = await this.#parts.store.triggers.emit(event, consequence)
    await this.settle(fired)
    const made = new Set(
      fired.flatMap(({ triggerKey, outcome }) =>
        outcome === 'fired' || outcome === 'queued' ? [triggerKey] : [],
      ),
    )
    return set.ready.flatMap(({ key, workflow }) => (made.has(key) ? [workflow.name] : []))
  }

  /** What remains to be done when triggers have fired. */
  async settle(fired: readonly Fired[]): Promise<void> {
    for (const { triggerKey, outcome, error } of fired) {
      if (outcome === 'failed')
        this.#parts.log.warn('a trigger could not make its run', { trigger: triggerKey, error })
      else this.#parts.log.info('a trigger fired', { trigger: triggerKey, outcome })
    }
    await this.#parts.signalCancel(fired.flatMap(({ cancelled }) => cancelled))
  }

  /** One turn: firings that wait for the end of the one before them. */
  async startWaitingOnce(): Promise<boolean> {
    return (await this.#parts.store.triggers.startWaiting(START_LIMIT)) === START_LIMIT
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]()
  }
}
