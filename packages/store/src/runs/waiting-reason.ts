import {
  canServe,
  CLOUD_SLOTS,
  ENFORCED,
  needsOf,
  type InfraStatus,
  type Run,
  type RunMode,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { toRun, type RunRow } from './run-rows.ts'
import type { Tables } from '../tables.ts'

/** Why each queued run of a page waits, by id. Computed on every read, so it is never stale. */
export async function waitingReasons(
  db: Kysely<Tables>,
  rows: readonly RunRow[],
): Promise<ReadonlyMap<number, string>> {
  const queued = rows.filter((row) => row.status === 'queued')
  if (queued.length === 0) return new Map()
  const [outbox, farm, infras] = await Promise.all([
    sql<Facts>`
      select r.id, coalesce(o.ready, true) as ready, coalesce(o.delayed, false) as delayed, r.crashes > 0 as suspect,
             case when o.sent_at > now() and isfinite(o.sent_at) then o.sent_at + interval '10 s' end as opens_at,
             case when o.sent_at = 'infinity' then coalesce(limit_problem(r.id), '') end as limited
      from runs r left join outbox o on o.run_id = r.id
      where r.id = any(${queued.map((row) => row.id)}::bigint[]) and (not o.ready or o.delayed or r.crashes > 0)
    `.execute(db),
    readOffers(db),
    infrasOf(db, queued),
  ])
  const facts = new Map(outbox.rows.map((row) => [Number(row.id), row]))
  return new Map(queued.map((row) => [row.id, reason(row, facts.get(row.id), farm, infras.get(row.job_id))]))
}

/** Runs as callers see them. */
export const runsOf = async (db: Kysely<Tables>, rows: readonly RunRow[]): Promise<Run[]> => {
  const reasons = await waitingReasons(db, rows)
  return rows.map((row) => toRun(row, reasons.get(row.id) ?? ''))
}

interface Facts {
  readonly id: number
  /** False: it waits for a slot of its job. */
  readonly ready: boolean
  /** A claim has put it back. */
  readonly delayed: boolean
  /** It lost a worker before. */
  readonly suspect: boolean
  /** When its scope opens. */
  readonly opens_at: string | null
  /** The limit that has no share left. */
  readonly limited: string | null
}

/** What live processes can take. */
export interface Offers {
  /** One for each set of capabilities; `open`: one of these workers is neither paused nor draining. */
  readonly workers: readonly {
    readonly capabilities: string[]
    readonly open: boolean
    readonly gap: string | null
  }[]
  readonly local: { readonly live: boolean; readonly open: boolean }
  readonly cloud: { readonly live: boolean; readonly open: boolean }
}

export const readOffers = async (db: Kysely<Tables>): Promise<Offers> => {
  const { rows } = await sql<{ kind: string; capabilities: string[]; open: boolean; gap: string | null }>`
    select kind, capabilities, bool_or(wanted = 'running' and not draining) as open, max(enforcement_gap) as gap from workers
    where lost_at is null and lease_until > now() group by kind, capabilities
  `.execute(db)
  const isCloud = ({ capabilities }: { capabilities: string[] }): boolean =>
    capabilities.includes(CLOUD_SLOTS)
  const slots = (found: typeof rows) => ({ live: found.length > 0, open: found.some(({ open }) => open) })
  const servers = rows.filter(({ kind }) => kind === 'server')
  return {
    workers: rows.filter(({ kind }) => kind === 'worker'),
    local: slots(servers.filter((row) => !isCloud(row))),
    cloud: slots(servers.filter(isCloud)),
  }
}

interface Infra {
  readonly infra_id: string
  readonly status: InfraStatus
}

/** Of cloud runs, by job id. */
const infrasOf = async (db: Kysely<Tables>, rows: readonly RunRow[]): Promise<ReadonlyMap<string, Infra>> => {
  const jobIds = new Set(rows.filter((row) => row.run_mode === 'cloud').map((row) => row.job_id))
  if (jobIds.size === 0) return new Map()
  const found = await sql<Infra & { job_id: string }>`
    select j.job_id, f.infra_id, f.status from jobs j join cloud_infras f on f.id = j.infra_no
    where j.job_id = any(${[...jobIds]}::text[])
  `.execute(db)
  return new Map(found.rows.map((row) => [row.job_id, row]))
}

const reason = (row: RunRow, facts: Facts | undefined, offers: Offers, infra: Infra | undefined): string => {
  if (infra && infra.status !== 'ready')
    return `waiting for infrastructure ${infra.infra_id} (${infra.status})`
  if (facts?.ready === false) return `waiting for one of the ${row.concurrency} slots of its job`
  if (typeof facts?.limited === 'string') return `waiting: ${facts.limited || 'it is offered again'}`
  const missing = missingFor(row.run_mode, row.requirement_class, offers)
  if (missing !== undefined) return missing
  if (facts?.suspect === true)
    return 'it lost its worker before: waiting for a worker that executes no other such run'
  if (typeof facts?.opens_at === 'string') return `its scope opens at ${facts.opens_at}`
  if (facts?.delayed === true) return 'a worker could not start it: it is offered again within 10 seconds'
  return PLACES[row.run_mode]
}

const PLACES: Readonly<Record<RunMode, string>> = {
  local: 'waiting for a local slot',
  cloud: 'waiting for a free machine',
  distributed: 'waiting for a worker',
}

/** Why no process of the farm can take a run with these needs now; undefined if one can when it has a free slot. */
export const missingFor = (mode: RunMode, requirementClass: string, offers: Offers): string | undefined => {
  if (mode !== 'distributed') {
    if (!offers[mode].live) return `no live server has ${mode} slots`
    return offers[mode].open ? undefined : `the ${mode} slots of every server are paused or draining`
  }
  const lack = lackOf(requirementClass, offers)
  if (lack?.kind === 'no-worker') return 'no live worker'
  if (lack !== undefined)
    return `no live worker offers${lack.kind === 'apart' ? ' all of' : ''}: ${lack.needs.join(' ')}${whyUnenforced(lack, offers)}`
  const needs = needsOf(requirementClass)
  return offers.workers.some(({ capabilities, open }) => open && canServe(capabilities, needs))
    ? undefined
    : 'every worker that can take it is paused or draining'
}

/** Why the kernels of the workers do not keep packets within scopes, as the first of them says. */
const whyUnenforced = ({ needs }: Lack, { workers }: Offers): string => {
  const gap = needs.includes(ENFORCED)
    ? workers.map((one) => one.gap ?? '').find((text) => text !== '')
    : undefined
  return gap === undefined ? '' : ` (${gap})`
}

/**
 * Why no live worker can take runs with these needs. `missing`: the needs that no worker offers; `apart`: each is offered,
 * but no single worker offers all.
 */
export interface Lack {
  readonly kind: 'no-worker' | 'missing' | 'apart'
  readonly needs: readonly string[]
}

/** Undefined if a live worker can take runs with these needs, possibly after it was resumed. */
export const lackOf = (requirementClass: string, { workers }: Pick<Offers, 'workers'>): Lack | undefined => {
  const needs = needsOf(requirementClass)
  if (workers.length === 0) return { kind: 'no-worker', needs }
  if (workers.some(({ capabilities }) => canServe(capabilities, needs))) return undefined
  const missing = needs.filter((need) => !workers.some(({ capabilities }) => capabilities.includes(need)))
  return missing.length > 0 ? { kind: 'missing', needs: missing } : { kind: 'apart', needs }
}
