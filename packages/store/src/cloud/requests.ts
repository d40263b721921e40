import { randomBytes } from 'node:crypto'
import type { CloudInfra, CloudProviderName, InfraStatus } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { PageOf, PageRequest } from '../store.ts'
import { storable, storableJson } from '../text.ts'
import { readInfras } from './infra-rows.ts'
import { endRuns } from './moves.ts'
import type { CloudBudget, CloudStore, InfraDraft } from './port.ts'
import { refusing } from './refusals.ts'

const INFRA_ID = /^[0-9a-f]{16}$/

export const newInfraId = (): string => randomBytes(8).toString('hex')

/** The argument `p_infra` of the SQL function `make_infra`. */
export const infraColumns = (infraId: string, draft: InfraDraft) => ({
  infra_id: infraId,
  provider: draft.provider,
  region: draft.region,
  instance_type: draft.instanceType,
  use_spot: draft.useSpot,
  auto_destroy: draft.autoDestroy,
  instances: draft.instances,
  tools: draft.tools,
  hours: draft.hours,
  hourly_price: draft.hourlyPrice,
})

export const findInfra = async (db: Kysely<unknown>, infraId: string): Promise<CloudInfra | undefined> => {
  if (!INFRA_ID.test(infraId)) return undefined
  const { infras } = await readInfras(db, sql`infra_id = ${infraId}`, { limit: 1, offset: 0 })
  return infras[0]
}

/** What callers ask for: new infrastructures, lists, the end of one. */
export const makeRequests = (
  db: Kysely<unknown>,
): Pick<CloudStore, 'request' | 'list' | 'find' | 'drain'> => ({
  request: (draft, budget) => request(db, draft, budget),
  list: (filter, page) => list(db, filter, page),
  find: (infraId) => findInfra(db, infraId),
  drain: (infraId, reason) => drain(db, infraId, reason),
})

const request = async (db: Kysely<unknown>, draft: InfraDraft, budget: CloudBudget): Promise<CloudInfra> => {
  const infraId = newInfraId()
  await refusing(
    sql`select make_infra(${storableJson(infraColumns(infraId, draft))}::jsonb, ${JSON.stringify(budget)}::jsonb)`.execute(
      db,
    ),
  )
  const infra = await findInfra(db, infraId)
  if (!infra) throw new Error(`the infrastructure ${infraId} is not there after it was made`)
  return infra
}

const list = async (
  db: Kysely<unknown>,
  { status, provider }: { status?: InfraStatus; provider?: CloudProviderName },
  page: PageRequest,
): Promise<PageOf<CloudInfra>> => {
  const matches = sql`(${status ?? null}::text is null or status = ${status ?? null})
    and (${provider ?? null}::text is null or provider = ${provider ?? null})`
  const before = page.cursor === undefined ? undefined : decodeCursor(page.cursor)
  const [{ infras, lastNo, truncated }, total] = await Promise.all([
    readInfras(db, before === undefined ? matches : sql`${matches} and id < ${before}`, {
      limit: page.limit,
      offset: before === undefined ? page.offset : 0,
    }),
    sql<{ total: number }>`select count(*) as total from cloud_infras where ${matches}`.execute(db),
  ])
  return {
    data: infras,
    total: total.rows[0]?.total ?? 0,
    nextCursor:
      lastNo !== undefined && (truncated || infras.length === page.limit) ? encodeCursor(lastNo) : undefined,
    truncated,
  }
}

const drain: (
  db: Kysely<unknown>,
  infraId: string,
  reason: string,
) => ReturnType<CloudStore['drain']> = async (db, infraId, reason) => {
  if (!INFRA_ID.test(infraId)) return undefined
  const { rows } = await sql<{ no: number }>`
    select id as no, move_infra(id, 'draining', ${storable(reason)}, 'cancelled', false)
    from cloud_infras where infra_id = ${infraId}
  `.execute(db)
  const cancelled = rows[0] ? await endRuns(db, rows[0].no) : []
  const infra = await findInfra(db, infraId)
  return infra && { infra, cancelled }
}
