import { sql, type Kysely, type RawBuilder } from 'kysely'
import { storable, storableJson } from '../text.ts'
import { eventJson, firedOf, fireJson, firingJson, type FiredJson } from './firing-json.ts'
import type { ClaimedEvent, Consequence, Fired, Triggers } from './port.ts'
import { topicPattern } from './topic-pattern.ts'

/** Entries that were written before the bound may be larger than a filter can take. */
const BOUNDED_DATA = sql`case when octet_length(data) <= 1048576 then data
  else json_build_object('truncated', true, 'bytes', octet_length(data))::text end as data`

export const makeTriggers = (db: Kysely<unknown>): Triggers => ({
  claimEvents: async ({ limit, leaseMs }) => {
    const { rows } = await sql<ClaimedEvent>`
      select id, topic, event_id as "eventId", name, source, data_type as "dataType", ${BOUNDED_DATA}, workspace,
             run_id as "runId", workflow_name as "workflowName", created_at as "createdAt"
      from claim_events(${limit}, ${leaseMs}) order by id
    `.execute(db)
    return rows
  },
  processEvent: (id, consequence) =>
    fired(db, sql`process_event(${id}, ${storable(consequence.error)}, ${firingsOf(consequence)}::jsonb)`),
  emit: async (event, consequence) =>
    (await fired(
      db,
      sql`emit_event(${storableJson(eventJson(event))}::jsonb, ${storable(consequence.error)},
                     ${firingsOf(consequence)}::jsonb)`,
    )) ?? [],
  record: async (event) => {
    await sql`
      select insert_event(${storableJson(eventJson(event))}::jsonb, not event_is_wanted(${storable(event.topic)}), '')
    `.execute(db)
  },
  wantTopics: async (topics) => {
    const wanted = [...new Set(topics.map(storable))].sort()
    if (wanted.length === 0) return
    await sql`
      insert into trigger_topics (topic, pattern)
      select * from unnest(${wanted}::text[], ${wanted.map(topicPattern)}::text[])
      on conflict (topic) do update set seen_at = now()
    `.execute(db)
  },
  ...clocks(db),
  ...files(db),
  startWaiting: async (limit) => {
    const { rows } = await sql<{ started: number }>`select start_waiting(${limit}) as started`.execute(db)
    return rows[0]?.started ?? 0
  },
  prune: async ({ days, topicsMs }) => {
    await sql`select prune_triggers(${days}, ${topicsMs})`.execute(db)
  },
  lastEventAt: async () => {
    const { rows } = await sql<{ at: string }>`
      select created_at as at from event_logs order by id desc limit 1
    `.execute(db)
    return rows[0]?.at ?? null
  },
})

const clocks = (
  db: Kysely<unknown>,
): Pick<Triggers, 'startClock' | 'clocks' | 'stopClocks' | 'fireCron' | 'fireNow'> => ({
  startClock: async (key, specHash, now) => {
    const { rows } = await sql<{ at: string }>`
      select start_clock(${key}, ${specHash}, ${now.toISOString()}::timestamptz) as at
    `.execute(db)
    return new Date(rows[0]?.at ?? now)
  },
  clocks: async (keys) => {
    const { rows } = await sql<{ key: string; at: string }>`
      select trigger_key as key, handled_until as at from trigger_clocks where trigger_key = any(${keys}::text[])
    `.execute(db)
    return new Map(rows.map(({ key, at }) => [key, new Date(at)]))
  },
  stopClocks: async (keys) => {
    if (keys.length === 0) return
    await sql`delete from trigger_clocks where trigger_key = any(${keys}::text[])`.execute(db)
  },
  fireCron: ({ key, specHash, from, until, fires }) =>
    fired(
      db,
      sql`fire_cron(${key}, ${specHash}, ${from.toISOString()}::timestamptz, ${until.toISOString()}::timestamptz,
                    ${storableJson(fires.map(fireJson))}::jsonb)`,
    ),
  fireNow: async (fire) =>
    (await fired(db, sql`tell_scheduled(${storableJson(fireJson(fire))}::jsonb)`)) ?? [],
})

const files = (
  db: Kysely<unknown>,
): Pick<Triggers, 'startWatch' | 'watchedFiles' | 'fireWatch' | 'forgetFiles'> => ({
  startWatch: async (key, specHash, known) => {
    await sql`
      select start_watch(${key}, ${specHash}, ${[...known.keys()]}::text[], ${[...known.values()]}::text[])
    `.execute(db)
  },
  watchedFiles: async (key) => {
    const { rows } = await sql<{ path: string; mark: string }>`
      select path, mark from watched_files where trigger_key = ${key}
    `.execute(db)
    return new Map(rows.map(({ path, mark }) => [path, mark]))
  },
  fireWatch: (key, { path, mark }, fire) =>
    fired(db, sql`fire_watch(${key}, ${path}, ${mark}, ${storableJson(fireJson(fire))}::jsonb)`),
  forgetFiles: async (key, paths) => {
    if (paths.length === 0) return
    await sql`delete from watched_files where trigger_key = ${key} and path = any(${paths}::text[])`.execute(
      db,
    )
  },
})

const firingsOf = ({ firings }: Consequence): string => storableJson(firings.map(firingJson))

const fired = async (db: Kysely<unknown>, call: RawBuilder<unknown>): Promise<Fired[] | undefined> => {
  const { rows } = await sql<{ fired: FiredJson }>`select ${call} as fired`.execute(db)
  const result = rows[0]?.fired ?? null
  return result === null ? undefined : firedOf(result)
}
