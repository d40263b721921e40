import type { JobFailures } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { decodeCursor, encodeCursor } from '../page.ts'
import { jobNoOf } from './job-no.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

/** Runs of one answer. */
export const STRIP_RUNS = 100_000

export interface JobStrip {
  readonly total: number
  /** Targets that have no run yet. */
  readonly without_run: number
  /** One letter for each run, in order. */
  readonly letters: string
  /** The ids of the runs in order, as [first id, number of consecutive ids]. */
  readonly ids: [number, number][]
  readonly nextCursor: string | undefined
}

const LETTER = sql.raw(`case status
  when 'pending' then 'p' when 'queued' then 'q' when 'running' then 'r' when 'failed' then 'f'
  when 'cancelled' then 'x' else case outcome when 'partial' then 'a' when 'nothing_done' then 'n' else 'c' end end`)

/** The runs of a job side by side: their states, and why they failed. */
export const makeJobStrips = (db: Kysely<Tables>) => ({
  /** The states of the runs of a job, in order; undefined for an unknown job. */
  async strip(jobId: string, cursor: string | undefined, limit: number): Promise<JobStrip | undefined> {
    const after = cursor === undefined ? 0 : decodeCursor(cursor)
    const row = await firstRow(db)<Omit<JobStrip, 'nextCursor'> & { readonly last: number | null }>`
      select j.target_count as total, s.letters, s.ids, s.last,
             (select coalesce(sum(cardinality(targets)), 0)::int from job_targets where job_no = j.id) as without_run
      from jobs j cross join lateral (
        select coalesce(string_agg(part.letters, '' order by part.first), '') as letters,
               coalesce(json_agg(json_build_array(part.first, part.runs) order by part.first), '[]') as ids,
               max(part.last) as last
        from (
          select min(id) as first, max(id) as last, count(*) as runs, string_agg(letter, '' order by id) as letters
          from (select id, ${LETTER} as letter, id - row_number() over (order by id) as island
                from (select id, status, outcome from runs where job_no = j.id and id > ${after}
                      order by id limit ${limit}) chunk) marked
          group by island
        ) part
      ) s
      where j.job_id = ${jobId}
    `
    if (row === undefined) return undefined
    const { last, ...strip } = row
    const isFull = strip.letters.length === limit && last !== null
    return { ...strip, nextCursor: isFull ? encodeCursor(last) : undefined }
  },
  /** Failed and partially completed runs of a job by their message; undefined for an unknown job. */
  async failures(jobId: string): Promise<JobFailures | undefined> {
    const jobNo = await jobNoOf(db, jobId)
    if (jobNo === undefined) return undefined
    const { rows } = await sql<{ seen: number; count: number; messages: MessageRow[] }>`
      with ${failed(jobNo)}, messages as (
        select status, outcome, message, count(*) as count, min(id) as first,
               (array_agg(id order by id))[1:${sql.lit(RUNS_SHOWN)}] as ids
        from failed group by status, outcome, message order by count(*) desc, min(id) limit ${MESSAGES}
      )
      select (select count(*) from seen) as seen, (select count(*) from failed) as count, coalesce(json_agg(
        json_build_object('status', m.status, 'outcome', m.outcome, 'message', m.message, 'count', m.count, 'runs', (
          select json_agg(json_build_object('id', r.id, 'run_uuid', r.run_uuid, 'target', without_password(r.target)) order by r.id)
          from runs r where r.id = any(m.ids)))
        order by m.first), '[]') as messages
      from messages m
    `.execute(db)
    const { seen = 0, count = 0, messages = [] } = rows[0] ?? {}
    const data = grouped(messages).slice(0, GROUPS)
    const listed = data.reduce((sum, group) => sum + group.count, 0)
    return { data, total: count, other_runs: count - listed, complete: seen < FAILURES_SEEN }
  },
  /** Runs of a job in the groups of `failures` with this pattern. */
  async runsOfPattern(jobId: string, pattern: string): Promise<readonly number[]> {
    const jobNo = await jobNoOf(db, jobId)
    if (jobNo === undefined) return []
    const { rows } = await sql<{ message: string; target: string; ids: number[] }>`
      with ${failed(jobNo)}
      select message, (array_agg(target order by id))[1] as target, json_agg(id order by id) as ids
      from failed group by status, outcome, message order by count(*) desc, min(id) limit ${MESSAGES}
    `.execute(db)
    return rows.flatMap(({ message, target, ids }) => (patternOf(message, target) === pattern ? ids : []))
  },
})

/** Runs of a job that one answer about its failures looks at. */
export const FAILURES_SEEN = 200_000
/** Different messages that are grouped, and characters of each. */
const MESSAGES = 5_000
const MESSAGE_CHARS = 300
const GROUPS = 100
const RUNS_SHOWN = 5

type FailureGroup = JobFailures['data'][number]

interface MessageRow extends Omit<FailureGroup, 'pattern' | 'example'> {
  readonly message: string
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi
const URL_TEXT = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>,;)]+/gi
const ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\[[0-9a-f:]*:[0-9a-f:]+\](?::\d+)?/gi
const HEX = /\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi
const HOST = /\b(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})\b(?::\d+)?/gi
const NUMBER = /\d+(?:\.\d+)?/g

/** A message without what differs between runs that failed for the same reason. */
export const patternOf = (message: string, target = ''): string =>
  (target.length > 2 ? message.replaceAll(target, '<target>') : message)
    .replace(UUID, '<uuid>')
    .replace(URL_TEXT, '<url>')
    .replace(ADDRESS, '<address>')
    .replace(HEX, '<hex>')
    .replace(HOST, '<host>')
    .replace(NUMBER, '<n>')
    .replaceAll('<target>', '<host>')

/** Runs of a job that failed, or left work out, with their messages. */
const failed = (jobNo: number) => sql`seen as materialized (
      select id, run_uuid, target, status, coalesce(outcome, '') as outcome, error_message, tally
      from (select * from runs where job_no = ${jobNo} order by id limit ${FAILURES_SEEN}) r
    ), failed as materialized (
      select id, run_uuid, target, status, outcome,
             left(coalesce(nullif(error_message, ''), tally -> 'reasons' ->> 0, ''), ${MESSAGE_CHARS}) as message
      from seen where status = 'failed' or (status = 'completed' and outcome in ('partial', 'nothing_done'))
    )`

const grouped = (messages: readonly MessageRow[]): FailureGroup[] => {
  const groups = new Map<string, FailureGroup>()
  for (const { status, outcome, message, count, runs } of messages) {
    const pattern = patternOf(message, runs[0]?.target)
    const key = `${status} ${outcome} ${pattern}`
    const group = groups.get(key)
    groups.set(key, {
      status,
      outcome,
      pattern,
      example: group?.example ?? message,
      count: (group?.count ?? 0) + count,
      runs: [...(group?.runs ?? []), ...runs].slice(0, RUNS_SHOWN),
    })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}
