import { isTopicGlob, topicGlobSql, type RunOutcome } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { storable, storableJson } from '../text.ts'
import {
  dedupeHash,
  resultsOf,
  scheduledJson,
  planJson,
  type EventPlan,
  type EventDraft,
  type ExecutionResult,
  type ResultsJson,
  type ScheduledPlan,
} from './execution-plan.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstValue } from '../rows.ts'

/** An entry that a master has leased. */
export interface ClaimedEvent extends EventDraft {
  readonly id: number
  readonly created_at: string
}

/** Old entries, written before the limit existed, may exceed what a filter accepts. */
const BOUNDED_DATA = sql`case when octet_length(data) <= 1048576 then data
  else json_build_object('truncated', true, 'bytes', octet_length(data))::text end as data`

/**
 * Executes triggers exactly once with any number of masters: each method that fires writes a unique row, the jobs and the
 * event log in one transaction.
 */
export const makeTriggers = (db: Kysely<Tables>) => ({
  /** Unprocessed events, oldest first, that no other master has claimed within its lease. */
  claimEvents: ({ limit, leaseMs }: { limit: number; leaseMs: number }): Promise<ClaimedEvent[]> => allRows(
    db,
  )<ClaimedEvent>`
      select id, topic, event_id, name, source, data_type, ${BOUNDED_DATA}, workspace, run_id, workflow_name, created_at
      from claim_events(${limit}, ${leaseMs}) order by id
    `,
  /** Undefined: another master has processed the event, and nothing was written. */
  processEvent: (id: number, plan: EventPlan): Promise<ExecutionResult[] | undefined> =>
    fired(db, sql`process_event(${id}, ${storable(plan.error)}, ${executionsOf(plan)}::jsonb)`),
  /** Writes a new event, as processed, together with what it triggers. */
  emit: async (event: EventDraft, plan: EventPlan): Promise<ExecutionResult[]> =>
    (await fired(
      db,
      sql`emit_event(${storableJson(event)}::jsonb, ${storable(plan.error)},
                     ${executionsOf(plan)}::jsonb)`,
    )) ?? [],
  /** Writes a new event. It is unprocessed if a trigger waits for its topic. */
  record: async (event: EventDraft): Promise<void> => {
    await sql`
      select insert_event(${storableJson(event)}::jsonb, not event_is_wanted(${storable(event.topic)}), '')
    `.execute(db)
  },
  /** Registers topics or shell globs that triggers wait for. Call it periodically: registrations expire. */
  wantTopics: async (topics: readonly string[]): Promise<void> => {
    const wanted = [...new Set(topics.map(storable))].sort()
    if (wanted.length === 0) return
    const patterns = wanted.map((topic) => (isTopicGlob(topic) ? topicGlobSql(topic) : null))
    await sql`
      insert into trigger_topics (topic, pattern)
      select * from unnest(${wanted}::text[], ${patterns}::text[])
      on conflict (topic) do update set seen_at = now()
    `.execute(db)
  },
  ...firings(db),
  ...clocks(db),
  ...files(db),
  /** Starts waiting executions whose predecessors have ended; returns how many. */
  startWaiting: (limit: number): Promise<number> =>
    firstValue(db, 0)`select start_waiting(${limit}) as started`,
  prune: async ({ days, topicsMs }: { days: number; topicsMs: number }): Promise<void> => {
    await sql`select prune_triggers(${days}, ${topicsMs})`.execute(db)
  },
  /** Time of the newest event, ISO 8601. */
  lastEventAt: async (): Promise<string | null> => {
    const newest = db.selectFrom('event_logs').select('created_at').orderBy('id', 'desc').limit(1)
    return (await newest.executeTakeFirst())?.created_at ?? null
  },
})

/** The newest execution of a trigger. */
export interface LastFiring {
  readonly firedAt: string
  readonly state: 'done' | 'open' | 'waiting' | 'skipped'
  /** Of the job that it made, or `""`. */
  readonly jobId: string
  /** Of that job; null: it has not ended. */
  readonly outcome: RunOutcome | null
}

const firings = (db: Kysely<Tables>) => ({
  lastFirings: async (keys: readonly string[]): Promise<ReadonlyMap<string, LastFiring>> => {
    const { rows } = await sql<LastFiring & { key: string }>`
      select k.key, f.fired_at as "firedAt", f.state, coalesce(j.job_id, '') as "jobId",
             job_outcome(j.final_counts, j.target_count) as outcome
      from unnest(${keys}::text[]) as k(key)
      cross join lateral (select * from trigger_firings where trigger_key = k.key order by fired_at desc limit 1) f
      left join jobs j on j.id = f.job_no
    `.execute(db)
    return new Map(rows.map(({ key, ...firing }) => [key, firing]))
  },
  /** What would keep a trigger from starting runs now: open executions, and until when a dedupe key blocks it. */
  obstacles: async (
    key: string,
    dedupeKey: string | undefined,
  ): Promise<{ open: number; until: string | null }> => {
    const { rows } = await sql<{ open: number; until: string | null }>`
      select (select count(*) from trigger_firings f
              where f.trigger_key = ${key} and f.state in ('open', 'waiting')
                and exists (select from runs r where r.job_no = f.job_no and r.completed_at is null)) as open,
             (select until from trigger_dedupe
              where trigger_key = ${key} and dedupe_key = ${dedupeHash(dedupeKey ?? '')}
                and ${dedupeKey !== undefined}::boolean and until > clock_timestamp()) as until
    `.execute(db)
    return rows[0] ?? { open: 0, until: null }
  },
})

const clocks = (db: Kysely<Tables>) => ({
  /** The time up to which the executions of a cron trigger are decided; `now` for a new one, or if `specHash` changed. */
  startClock: async (key: string, specHash: string, now: Date): Promise<Date> => {
    const { rows } = await sql<{ at: string }>`
      select start_clock(${key}, ${specHash}, ${now.toISOString()}::timestamptz) as at
    `.execute(db)
    return new Date(rows[0]?.at ?? now)
  },
  /** These times for known triggers, by key. */
  clocks: async (keys: readonly string[]): Promise<ReadonlyMap<string, Date>> => {
    const { rows } = await sql<{ key: string; at: string }>`
      select trigger_key as key, handled_until as at from trigger_clocks where trigger_key = any(${keys}::text[])
    `.execute(db)
    return new Map(rows.map(({ key, at }) => [key, new Date(at)]))
  },
  /** Deletes these times, so that a trigger starts from the present when it is enabled again. */
  stopClocks: async (keys: readonly string[]): Promise<void> => {
    if (keys.length === 0) return
    await sql`delete from trigger_clocks where trigger_key = any(${keys}::text[])`.execute(db)
  },
  /** Decides the executions after `from` up to `until`. Undefined: another master has. */
  fireCron: (options: {
    key: string
    specHash: string
    from: Date
    until: Date
    fires: readonly ScheduledPlan[]
  }): Promise<ExecutionResult[] | undefined> => {
    const { key, specHash, from, until, fires } = options
    return fired(
      db,
      sql`fire_cron(${key}, ${specHash}, ${from.toISOString()}::timestamptz, ${until.toISOString()}::timestamptz,
                    ${storableJson(fires.map(scheduledJson))}::jsonb)`,
    )
  },
  /** Fires immediately, independently of the schedule. */
  fireNow: async (fire: ScheduledPlan): Promise<ExecutionResult[]> =>
    (await fired(db, sql`emit_scheduled_event(${storableJson(scheduledJson(fire))}::jsonb)`)) ?? [],
})

const files = (db: Kysely<Tables>) => ({
  /** Registers `known` as the files of a watch that is new or was changed, without firing for them. */
  startWatch: async (key: string, specHash: string, known: ReadonlyMap<string, string>): Promise<void> => {
    await sql`
      select start_watch(${key}, ${specHash}, ${[...known.keys()]}::text[], ${[...known.values()]}::text[])
    `.execute(db)
  },
  /** The last handled state of each file of a watch, by path. */
  watchedFiles: async (key: string): Promise<Map<string, string>> => {
    const { rows } = await sql<{ path: string; mark: string }>`
      select path, mark from watched_files where trigger_key = ${key}
    `.execute(db)
    return new Map(rows.map(({ path, mark }) => [path, mark]))
  },
  /** Undefined: another master has handled this state of the file. */
  fireWatch: (
    key: string,
    { path, mark }: { path: string; mark: string },
    fire: ScheduledPlan,
  ): Promise<ExecutionResult[] | undefined> =>
    fired(db, sql`fire_watch(${key}, ${path}, ${mark}, ${storableJson(scheduledJson(fire))}::jsonb)`),
  /** Deletes the state of files that no longer exist. */
  forgetFiles: async (key: string, paths: readonly string[]): Promise<void> => {
    if (paths.length === 0) return
    await sql`delete from watched_files where trigger_key = ${key} and path = any(${paths}::text[])`.execute(
      db,
    )
  },
})

const executionsOf = ({ executions }: EventPlan): string => storableJson(executions.map(planJson))

const fired = async (
  db: Kysely<Tables>,
  call: RawBuilder<unknown>,
): Promise<ExecutionResult[] | undefined> => {
  const { rows } = await sql<{ fired: ResultsJson }>`select ${call} as fired`.execute(db)
  const result = rows[0]?.fired ?? null
  return result === null ? undefined : resultsOf(result)
}
