import type { Logger } from '@scanfarm/platform'
import type { ClaimedEvent, EventDraft, ExecutionResult, Store } from '@scanfarm/store'
import { Engine, TriggerLanguage, type TriggerFiles } from '@scanfarm/engine'
import type { Catalog } from '../catalog/catalog.ts'
import type { Scopes } from '../submission/scopes.ts'
import { planEvent, triggerEvent } from './plan-event.ts'
import type { PlanContext } from './plan-execution.ts'
import { RELOAD_MS, TriggerRegistry } from './trigger-registry.ts'

/** Events claimed in one turn. */
const BATCH = 50
/** How long a master that died keeps its claimed events. */
const LEASE_MS = 5_000
/** Time limit of a filter. */
const FILTER_MS = 1_000
const FILTER_BYTES = 32 << 20
/** Size limit of the JSON of filter results, function arguments and function results, which this thread parses. */
const FILTER_CHARS = 1 << 20
/** Concurrent filters; one that does not end occupies one thread. */
const FILTER_THREADS = 2
/** Queued trigger executions started in one turn. */
const START_LIMIT = 100

export interface ReceiverOptions {
  readonly store: Pick<Store, 'triggers' | 'schedules' | 'runs' | 'delta'>
  readonly catalog: Catalog
  readonly master: boolean
  /** Whether this server processes events; without it only the scheduler fires triggers. */
  readonly enabled: boolean
  readonly log: Logger
  /** Names of the variables of the settings. */
  readonly operatorVariables?: readonly string[]
  readonly scopes: Scopes
  /** Files that trigger functions may read; none if missing. */
  readonly files?: () => TriggerFiles
  /** Notifies the owners of runs that must end. */
  signalCancel(runIds: readonly number[]): Promise<void>
}

/** Turns events into runs. Any number of masters may do so; each event is processed once. */
export class EventReceiver implements AsyncDisposable {
  readonly enabled: boolean
  /** True while its loop runs. */
  running = false
  readonly registry: TriggerRegistry
  readonly planning: PlanContext
  /** For tests of triggers: has a sandbox of its own, so that a slow test delays no event. */
  readonly testing: PlanContext
  readonly #parts: ReceiverOptions
  readonly #engine = engineWith(FILTER_THREADS)
  readonly #testEngine = engineWith(1)

  constructor(parts: ReceiverOptions) {
    this.#parts = parts
    this.enabled = parts.enabled
    this.registry = new TriggerRegistry(parts.catalog, parts.store, parts.enabled)
    this.planning = {
      catalog: parts.catalog,
      master: parts.master,
      operatorVariables: parts.operatorVariables ?? [],
      scopes: parts.scopes,
      delta: parts.store.delta,
      language: new TriggerLanguage(this.#engine, parts.files),
      targetOfRun: async (runUuid) => (await parts.store.runs.find(runUuid))?.target,
      startedByEvent: async (runUuid) => (await parts.store.runs.find(runUuid))?.trigger_type === 'event',
    }
    this.testing = { ...this.planning, language: new TriggerLanguage(this.#testEngine, parts.files) }
  }

  /** One turn: processes waiting events. Returns true if there may be more. */
  async receiveOnce(signal: AbortSignal): Promise<boolean> {
    const { triggers } = this.#parts.store
    await this.registry.current(RELOAD_MS)
    const events = await triggers.claimEvents({ limit: BATCH, leaseMs: LEASE_MS })
    if (events.length === 0) return false
    // The trigger that wants the event was stored before it, but a cached set may not contain it yet.
    const set = await this.registry.current()
    const failures: unknown[] = []
    for (const event of events) {
      try {
        signal.throwIfAborted()
        await this.#process(set, event, signal)
      } catch (error) {
        signal.throwIfAborted()
        // The event is claimed again after its lease; the others do not wait for it.
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
    const plan = await planEvent(this.planning, set, triggerEvent(event, event.created_at), signal)
    // Aborted: the event stays unprocessed and another master takes it.
    signal.throwIfAborted()
    await this.settle((await this.#parts.store.triggers.processEvent(event.id, plan)) ?? [])
  }

  /** Processes a new event immediately. Returns the names of the workflows that got runs. */
  async emit(event: EventDraft, signal: AbortSignal): Promise<string[]> {
    const set = await this.registry.current()
    const plan = await planEvent(this.planning, set, triggerEvent(event, new Date().toISOString()), signal)
    signal.throwIfAborted()
    const fired = await this.#parts.store.triggers.emit(event, plan)
    await this.settle(fired)
    const made = new Set(
      fired.flatMap(({ triggerKey, outcome }) =>
        outcome === 'fired' || outcome === 'queued' ? [triggerKey] : [],
      ),
    )
    return set.ready.flatMap(({ key, workflow }) => (made.has(key) ? [workflow.name] : []))
  }

  /** Logs the results of fired triggers and cancels the runs they replace. */
  async settle(fired: readonly ExecutionResult[]): Promise<void> {
    for (const { triggerKey, outcome, error, refused } of fired) {
      this.#parts.scopes.count(refused, 'trigger')
      if (outcome === 'failed')
        this.#parts.log.warn('a trigger could not start its run', { trigger: triggerKey, error })
      else this.#parts.log.info('a trigger fired', { trigger: triggerKey, outcome })
    }
    await this.#parts.signalCancel(fired.flatMap(({ cancelled }) => cancelled))
  }

  /** One turn: starts executions that waited for the end of the previous one. */
  async startWaitingOnce(): Promise<boolean> {
    return (await this.#parts.store.triggers.startWaiting(START_LIMIT)) === START_LIMIT
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#engine[Symbol.asyncDispose](), this.#testEngine[Symbol.asyncDispose]()])
  }
}

const engineWith = (maxThreads: number): Engine =>
  new Engine({
    limits: { timeMs: FILTER_MS, memoryBytes: FILTER_BYTES, resultChars: FILTER_CHARS },
    maxThreads,
  })
