import type { StoredSchedule, Store } from '@scanfarm/store'
import type { Json, WorkflowEntry } from '@scanfarm/language'
import type { Catalog } from '../catalog/catalog.ts'
import { triggerOfFile, triggerOfSchedule, type ReadTrigger } from './read-trigger.ts'
import { wantedTopics } from './topics.ts'
import type { BrokenTrigger, ReadyTrigger } from './trigger.ts'

/** All triggers at one moment. */
export interface TriggerSet {
  readonly ready: readonly ReadyTrigger[]
  readonly broken: readonly BrokenTrigger[]
  readonly workflows: readonly WorkflowEntry[]
}

/** How often unchanged topics are renewed in the database. */
const ANNOUNCE_EVERY_MS = 30_000
/** How soon loops notice a changed trigger. */
export const RELOAD_MS = 2_000

const isBroken = (trigger: ReadTrigger): trigger is BrokenTrigger => 'problem' in trigger
const isReady = (trigger: ReadTrigger): trigger is ReadyTrigger => !isBroken(trigger)

/**
 * The triggers of all workflow files and schedules, reloaded when one of them changes. It also tells the database which
 * topics are wanted, so that other events are stored as processed.
 */
export class TriggerRegistry {
  readonly #catalog: Catalog
  readonly #store: Pick<Store, 'schedules' | 'triggers'>
  readonly #receiving: boolean
  #entries: readonly WorkflowEntry[] | undefined
  #version = ''
  #set: TriggerSet = { ready: [], broken: [], workflows: [] }
  /** When the reload of the current set began. */
  #readAt = Number.NEGATIVE_INFINITY
  #announcedAt = Number.NEGATIVE_INFINITY
  #loadedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<TriggerSet> | undefined

  /** `receiving`: this master processes events; otherwise it requests no topics. */
  constructor(catalog: Catalog, store: Pick<Store, 'schedules' | 'triggers'>, receiving: boolean) {
    this.#catalog = catalog
    this.#store = store
    this.#receiving = receiving
  }

  /** The current triggers, at most `maxAgeMs` old. A reload checks every workflow file. */
  async current(maxAgeMs = 0): Promise<TriggerSet> {
    if (performance.now() - this.#loadedAt <= maxAgeMs) return this.#set
    // Callers that need fresh data must not reuse a reload that is already in flight.
    if (maxAgeMs > 0 && this.#loading !== undefined) return await this.#loading
    const loading = this.#load()
    this.#loading = loading
    try {
      return await loading
    } finally {
      if (this.#loading === loading) this.#loading = undefined
    }
  }

  async #load(): Promise<TriggerSet> {
    const begun = performance.now()
    const [entries, version] = await Promise.all([this.#catalog.list(), this.#store.schedules.version()])
    if (entries !== this.#entries || version !== this.#version) {
      const read = await this.#read(entries)
      // A reload that began later has finished first; its result is newer.
      if (begun < this.#readAt) return this.#set
      this.#set = read
      this.#readAt = begun
      this.#entries = entries
      this.#version = version
      this.#announcedAt = Number.NEGATIVE_INFINITY
    }
    const set = this.#set
    if (this.#receiving && begun - this.#announcedAt > ANNOUNCE_EVERY_MS) {
      const rules = set.ready.flatMap(({ enabled, event }) => (enabled && event ? [event.topic] : []))
      await this.#store.triggers.wantTopics(rules.flatMap(wantedTopics))
      this.#announcedAt = begun
    }
    this.#loadedAt = Math.max(this.#loadedAt, begun)
    return set
  }

  async #read(entries: readonly WorkflowEntry[]): Promise<TriggerSet> {
    const workflows = visible(entries)
    const schedules: readonly StoredSchedule[] = await this.#store.schedules.all()
    const ofFiles = await Promise.all(workflows.map((entry) => this.#ofFile(entry)))
    const triggers = [...unique(ofFiles.flat()), ...schedules.map(triggerOfSchedule)]
    return {
      ready: triggers.filter(isReady),
      broken: triggers.filter(isBroken),
      workflows: workflows.filter((_, index) => (ofFiles[index] ?? []).length > 0),
    }
  }

  async #ofFile(entry: WorkflowEntry): Promise<ReadTrigger[]> {
    const triggers = (await this.#inherited(entry)) ?? entry.triggers
    return triggers.flatMap((trigger, index) => triggerOfFile(entry, trigger, index) ?? [])
  }

  async #inherited(entry: WorkflowEntry): Promise<WorkflowEntry['triggers'] | undefined> {
    if (entry.workflow?.extends === undefined) return undefined
    try {
      return (await this.#catalog.pin(entry.name, entry.kind)).resolved.root.triggers ?? []
    } catch {
      // A workflow without its parent cannot run; workflow lists show the reason.
      return []
    }
  }
}

/** Valid workflows, one for each name and kind: the one that would run. */
const visible = (entries: readonly WorkflowEntry[]): WorkflowEntry[] => {
  const seen = new Map<string, WorkflowEntry>()
  for (const entry of entries) {
    const key = `${entry.kind}/${entry.name}`
    if (entry.workflow !== undefined && !seen.has(key)) seen.set(key, entry)
  }
  return [...seen.values()]
}

/** Triggers with the same name in one workflow are numbered. */
const unique = (triggers: readonly ReadTrigger[]): ReadTrigger[] => {
  const seen = new Map<string, number>()
  return triggers.map((trigger) => {
    if (isBroken(trigger)) return trigger
    const count = (seen.get(trigger.key) ?? 0) + 1
    seen.set(trigger.key, count)
    return count === 1 ? trigger : { ...trigger, key: `${trigger.key}#${count}` }
  })
}

/** The data of an event: an object unchanged, anything else as `{value: …}`. */
export const dataOf = (text: string): { [key: string]: Json } => {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    value = text
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
}
