import { randomBytes } from 'node:crypto'
import {
  AppError,
  type CloudInfra,
  type CloudProviderName,
  type ErrorCode,
  type InfraStatus,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { PageOf, PageRequest } from '../page.ts'
import { canBeStored, storable, storableJson } from '../text.ts'
import { readInfras } from './infra-records.ts'
import { endRuns } from './transitions.ts'
import type { Tables } from '../tables.ts'

/** An infrastructure to be created, with all defaults filled in. */
export interface InfraDraft {
  readonly provider: CloudProviderName
  readonly region: string
  readonly instanceType: string
  readonly useSpot: boolean
  readonly instances: number
  /** Destroy the infrastructure after the last run of all jobs that are bound to it. */
  readonly autoDestroy: boolean
  /** The infrastructure is destroyed after this time in any case. */
  readonly hours: number
  /** US dollars an hour for one machine; null: not known. */
  readonly hourlyPrice: number | null
  /** Programs that a machine must have before it counts as ready. */
  readonly tools: readonly string[]
}

/** Limits of each infrastructure and of all that are not destroyed (`total…`); null: no limit. Costs in US dollars. */
export interface CloudBudget {
  readonly instances: number
  readonly totalInstances: number
  readonly hours: number
  readonly totalInstanceHours: number | null
  readonly cost: number | null
  readonly totalCost: number | null
}

/**
 * Where cloud runs execute: on a new infrastructure or on an existing one. The database refuses a new one beyond the budget
 * with `cloud_limit`, an unknown one with `not_found` and one that accepts no more runs with `wrong_state`.
 */
export type CloudChoice =
  { readonly infra: InfraDraft; readonly budget: CloudBudget } | { readonly reuse: string }

export interface SubmittedInfra {
  readonly infraId: string
  readonly provider: CloudProviderName
  /** Machines asked for. */
  readonly instances: number
}

const INFRA_ID = /^[0-9a-f]{16}$/

export const newInfraId = (): string => randomBytes(8).toString('hex')

/** The argument `p_infra` of the SQL function `create_infra`. */
const infraColumns = (infraId: string, draft: InfraDraft) => ({
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

/** The argument `p_cloud` of SQL functions. A new infrastructure gets the given id. */
export const cloudChoice = (choice: CloudChoice, infraId: string) =>
  'reuse' in choice
    ? { reuse: choice.reuse }
    : { infra: infraColumns(infraId, choice.infra), budget: choice.budget }

/** Chooses the id of a new infrastructure or looks up an existing one. Writes nothing. */
export async function submittedInfra(db: Kysely<Tables>, choice: CloudChoice): Promise<SubmittedInfra> {
  if ('infra' in choice) {
    const { provider, instances } = choice.infra
    return { infraId: newInfraId(), provider, instances }
  }
  const { rows } = canBeStored(choice.reuse)
    ? await sql<SubmittedInfra>`
        select infra_id as "infraId", provider, instances from cloud_infras where infra_id = ${choice.reuse}
      `.execute(db)
    : { rows: [] }
  const [infra] = rows
  if (!infra) throw new AppError('not_found', `there is no infrastructure ${choice.reuse}`)
  return infra
}

/** SQLSTATEs that SQL functions raise to refuse a request. Their messages are written for the caller. */
const REFUSALS: Readonly<Record<string, ErrorCode>> = {
  SF001: 'cloud_limit',
  SF002: 'not_found',
  SF003: 'wrong_state',
}

const asRefusal = (error: unknown): unknown => {
  if (!Error.isError(error) || !('code' in error) || typeof error.code !== 'string') return error
  const code = REFUSALS[error.code]
  return code === undefined ? error : new AppError(code, error.message)
}

/** The same promise, with refusals of the database as `AppError`. */
export const refusing = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw asRefusal(error)
  })

/** The requests of callers: new infrastructures, lists, destruction. */
export const createRequests = (db: Kysely<Tables>) => ({
  /**
   * Creates an infrastructure and its instance rows in status `requested`. Refuses with `cloud_limit` and the figures when
   * the budget does not allow it; requests of the whole farm are serialised. `jobs.submit` does the same in the
   * transaction that creates the job.
   */
  async request(draft: InfraDraft, budget: CloudBudget): Promise<CloudInfra> {
    const infraId = newInfraId()
    const infra = storableJson(infraColumns(infraId, draft))
    await refusing(sql`select create_infra(${infra}::jsonb, ${JSON.stringify(budget)}::jsonb)`.execute(db))
    const created = await find(db, infraId)
    if (!created) throw new Error(`the infrastructure ${infraId} cannot be read after its creation`)
    return created
  },

  list: (
    { status, provider }: { status?: InfraStatus; provider?: CloudProviderName },
    page: PageRequest,
  ): Promise<PageOf<CloudInfra>> => {
    const isAsked = [
      ...(status === undefined ? [] : [sql`status = ${status}`]),
      ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
    ]
    return readInfras(db, isAsked, page)
  },

  find: (infraId: string): Promise<CloudInfra | undefined> => find(db, infraId),

  /**
   * → `draining`: cancels waiting runs of the infrastructure with the reason and asks running ones to end. One that is
   * destroyed or failed stays as it is. Undefined when it is unknown. `cancelled`: the running runs, to be signalled.
   */
  async drain(
    infraId: string,
    reason: string,
  ): Promise<{ infra: CloudInfra; cancelled: number[] } | undefined> {
    if (!INFRA_ID.test(infraId)) return undefined
    const { rows } = await sql<{ no: number }>`
      select id as no, move_infra(id, 'draining', ${storable(reason)}, 'cancelled', false)
      from cloud_infras where infra_id = ${infraId}
    `.execute(db)
    const cancelled = rows[0] ? await endRuns(db, rows[0].no) : []
    const infra = await find(db, infraId)
    return infra && { infra, cancelled }
  },
})

const find = async (db: Kysely<Tables>, infraId: string): Promise<CloudInfra | undefined> => {
  if (!INFRA_ID.test(infraId)) return undefined
  const { data } = await readInfras(db, [sql`infra_id = ${infraId}`], { limit: 1, offset: 0 })
  return data[0]
}
