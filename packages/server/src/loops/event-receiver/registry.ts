import type { StoredSchedule, Store } from '@scanfarm/store'
import type { Json, WorkflowEntry } from '@scanfarm/workflow'
import type { Catalog } from '../../catalog/catalog.ts'
import { triggerOfFile, triggerOfSchedule, type ReadTrigger } from './read-trigger.ts'
import { wantedTopics } from './topics.ts'
import type { BrokenTrigger, ReadyTrigger } from './trigger.ts'

/** All triggers there are, at one moment. */
export interface TriggerSet {
  readonly ready: readonly ReadyTrigger[]
  readonly broken: readonly BrokenTrigger[]
  readonly workflows: readonly WorkflowEntry[]
}

/** How often the database is told which topics are wanted, without a change. */
const SAY_AGAIN_MS = 30_000
/** How soon loops notice that a trigger was changed. */
export const RELOAD_MS = 2_000

const isBroken = (trigger: ReadTrigger): trigger is BrokenTrigger => 'problem' in trigger
const isReady = (trigger: ReadTrigger): trigger is ReadyTrigger => !isBroken(trigger)

/**
 * The triggers of all workflow files and schedules, read again when one of them changes; and the word to the database
 * which topics are waited for, so that other events are born processed.
 */
export class TriggerRegistry {
  readonly #catalog: Catalog
  readonly #store: Pick<Store, 'schedules' | 'triggers'>
  readonly #listening: boolean
  #entries: readonly WorkflowEntry[] | undefined
  #version = ''
  #set: TriggerSet = { ready: [], broken: [], workflows: [] }
  /** When the look began that saw the set. */
  #readAt = Number.NEGATIVE_INFINITY
  #said = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<TriggerSet> | undefined

  /** `listening`: this master takes events; otherwise none is asked for. */
  constructor(catalog: Catalog, store: Pick<Store, 'schedules' | 'triggers'>, listening: boolean) {
    this.#catalog = catalog
    this.#store = store
    this.#listening = listening
  }

  /** The triggers as they are now, or were at most `maxAgeMs` ago: looking costs a glance at every workflow file. */
  async current(maxAgeMs = 0): Promise<TriggerSet> {
    if (performance.now() - this.#lookedAt <= maxAgeMs) return this.#set
    // Whoever wants what is there now must not be given a look that began before.
    if (maxAgeMs > 0 && this.#looking !== undefined) return await this.#looking
    const looking = this.#look()
    this.#looking = looking
    try {
      return await looking
    } finally {
      if (this.#looking === looking) this.#looking = undefined
    }
  }

  async #look(): Promise<TriggerSet> {
    const begun = performance.now()
    const [entries, version] = await Promise.all([this.#catalog.list(), this.#store.schedules.version()])
    if (entries !== this.#entries || version !== this.#version) {
      const read = await this.#read(entries)
      // A look that began later was faster: what it saw is newer.
      if (begun < this.#readAt) return this.#set
      this.#set = read
      this.#readAt = begun
      this.#entries = entries
      this.#version = version
      this.#said = Number.NEGATIVE_INFINITY
    }
    const set = this.#set
    if (this.#listening && begun - this.#said > SAY_AGAIN_MS) {
      const rules = set.ready.flatMap(({ enabled, event }) => (enabled && event ? [event.topic] : []))
      await this.#store.triggers.wantTopics(rules.flatMap(wantedTopics))
      this.#said = begun
    }
    this.#lookedAt = Math.max(this.#lookedAt, begun)
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
      // A workflow whose parent is missing cannot run either; lists of workflows say why.
      return []
    }
  }
}

/** Sound workflows, each name and kind once: the first one is the one that would run. */
const visible = (entries: readonly WorkflowEntry[]): WorkflowEntry[] => {
  const seen = new Map<string, WorkflowEntry>()
  for (const entry of entries) {
    const key = `${entry.kind}/${entry.name}`
    if (entry.workflow !== undefined && !seen.has(key)) seen.set(key, entry)
  }
  return [...seen.values()]
}

/** Triggers of the same name in one workflow are told apart by their place. */
const unique = (triggers: readonly ReadTrigger[]): ReadTrigger[] => {
  const seen = new Map<string, number>()
  return triggers.map((trigger) => {
    if (isBroken(trigger)) return trigger
    const count = (seen.get(trigger.key) ?? 0) + 1
    seen.set(trigger.key, count)
    return count === 1 ? trigger : { ...trigger, key: `${trigger.key}#${count}` }
  })
}

/** The values of an event's data: an object as it is, anything else as `{value: …}`. */
export const dataOf = (text: string): { [key: string]: Json } => {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    value = text
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
}
