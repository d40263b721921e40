import { canServe, needsOf, type InfraStatus } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { RunRow } from './run-rows.ts'
import { HAS_LOCAL_SLOTS } from './workers.ts'

/** Why each queued run of a page waits, by id. Computed on every read, so it is never stale. */
export async function waitingReasons(
  db: Kysely<unknown>,
  rows: readonly RunRow[],
): Promise<ReadonlyMap<number, string>> {
  const queued = rows.filter((row) => row.status === 'queued')
  if (queued.length === 0) return new Map()
  const found = await sql<{ throttled: number[]; offers: string[][]; local: boolean }>`
    select array(select run_id from outbox where run_id = any(${queued.map((row) => row.id)}::bigint[]) and not ready)
             as throttled,
           (select coalesce(json_agg(capabilities), '[]') from (
              select distinct capabilities from workers
              where kind = 'worker' and lost_at is null and lease_until > now()) live) as offers,
           ${HAS_LOCAL_SLOTS} as local
  `.execute(db)
  const { throttled = [], offers = [], local = false } = found.rows[0] ?? {}
  const throttledIds = new Set(throttled.map(Number))
  const infras = await infrasOf(db, queued)
  return new Map(
    queued.map((row) => [
      row.id,
      reason(row, throttledIds.has(row.id), { offers, local }, infras.get(row.job_id)),
    ]),
  )
}

interface Infra {
  readonly infra_id: string
  readonly status: InfraStatus
}

/** Of cloud runs, by job id. */
const infrasOf = async (
  db: Kysely<unknown>,
  rows: readonly RunRow[],
): Promise<ReadonlyMap<string, Infra>> => {
  const jobIds = new Set(rows.filter((row) => row.run_mode === 'cloud').map((row) => row.job_id))
  if (jobIds.size === 0) return new Map()
  const found = await sql<Infra & { job_id: string }>`
    select j.job_id, f.infra_id, f.status from jobs j join cloud_infras f on f.id = j.infra_no
    where j.job_id = any(${[...jobIds]}::text[])
  `.execute(db)
  return new Map(found.rows.map((row) => [row.job_id, row]))
}

const reason = (
  row: RunRow,
  throttled: boolean,
  { offers, local }: { readonly offers: readonly string[][]; readonly local: boolean },
  infra: Infra | undefined,
): string => {
  if (infra && infra.status !== 'ready')
    return `waiting for infrastructure ${infra.infra_id} (${infra.status})`
  if (throttled) return `waiting for one of the ${row.concurrency} slots of its job`
  if (row.run_mode === 'local') return local ? 'waiting for a local slot' : 'no live server has local slots'
  if (row.run_mode === 'cloud') return 'waiting for a free machine'
  const needs = needsOf(row.requirement_class)
  if (offers.length === 0) return 'no live worker'
  if (!offers.some((capabilities) => canServe(capabilities, needs))) return missingFrom(offers, needs)
  return 'waiting for a worker'
}

/** The needs that no live worker offers, or all of them if no single worker offers all. */
const missingFrom = (offers: readonly string[][], needs: readonly string[]): string => {
  const missing = needs.filter((need) => !offers.some((capabilities) => capabilities.includes(need)))
  return missing.length > 0
    ? `no live worker offers: ${missing.join(' ')}`
    : `no live worker offers all of: ${needs.join(' ')}`
}
