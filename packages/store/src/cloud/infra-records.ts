import type {
  CloudInfra,
  CloudInstance,
  CloudProviderName,
  InfraStatus,
  InstanceStatus,
} from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { newestFirst, type PageOf, type PageRequest } from '../page.ts'
import type { Tables } from '../tables.ts'

/** A machine as its reconciler sees it, with its secrets. */
export interface InstanceRecord {
  readonly no: number
  /** Unique in the farm and valid as a host name. The create call carries it, so that a machine can be found after a crash. */
  readonly name: string
  readonly status: InstanceStatus
  readonly resourceId: string
  readonly address: string
  readonly port: number
  readonly message: string
  /** OpenSSH private host key of the machine; "" once the machine is ready. */
  readonly hostKeyPrivate: string
  /** OpenSSH public key, `ssh-ed25519 AAAA…`. */
  readonly hostKey: string
  readonly createdAt: string
  /** Time since the last `markCreateStarted`, by the clock of the database; null: never. */
  readonly createStartedMsAgo: number | null
}

/** An infrastructure as its reconciler sees it, with its secrets. */
export interface InfraRecord {
  readonly no: number
  readonly infraId: string
  readonly status: InfraStatus
  readonly provider: CloudProviderName
  readonly region: string
  readonly instanceType: string
  readonly useSpot: boolean
  readonly autoDestroy: boolean
  readonly tools: readonly string[]
  readonly expiresAt: string
  readonly expired: boolean
  /** At least one job is bound to it, and all runs of these jobs have ended. */
  readonly workDone: boolean
  readonly message: string
  /** User as which runs execute on its machines. */
  readonly sshUser: string
  /** OpenSSH private key for ssh to its machines; "" before `setKey`. */
  readonly privateKey: string
  readonly publicKey: string
  readonly instances: readonly InstanceRecord[]
}

interface InfraRow extends Omit<CloudInfra, 'details' | 'ready_count' | 'total_count'> {
  readonly no: number
}

const INFRA = sql`
  i.id as no, infra_id, status, provider, region, instance_type, use_spot, auto_destroy, instances, message,
  (instances * hourly_price)::float8 as hourly_cost, (instances * hours * hourly_price)::float8 as estimated_cost,
  expires_at, created_at, ready_at, destroyed_at`

/** Size of an instance in a list, without its message. */
const INSTANCE_BYTES = 512

/** Infrastructures as callers see them, newest first. */
export async function readInfras(
  db: Kysely<Tables>,
  conditions: readonly RawBuilder<unknown>[],
  page: PageRequest,
): Promise<PageOf<CloudInfra>> {
  const found = await newestFirst<InfraRow>(db, page, {
    from: sql`cloud_infras i`,
    id: sql`i.id`,
    conditions,
    bytes: sql`octet_length(i.message) + (
      select coalesce(sum(${INSTANCE_BYTES} + octet_length(m.message)), 0) from cloud_instances m where m.infra_no = i.id)`,
    columns: INFRA,
  })
  const machines = await readInstances(
    db,
    found.data.map((row) => row.no),
  )
  return {
    ...found,
    data: found.data.map(({ no, ...row }) => {
      const details = machines.get(no) ?? []
      const ready_count = details.filter((one) => one.status === 'ready').length
      return { ...row, ready_count, total_count: details.length, details }
    }),
  }
}

const readInstances = async (
  db: Kysely<Tables>,
  infraNos: readonly number[],
): Promise<ReadonlyMap<number, CloudInstance[]>> => {
  const { rows } = await sql<CloudInstance & { infra_no: number }>`
    select infra_no, resource_id, name, status, message, address,
           (select count(*) from runs r where r.instance_no = i.id and r.status = 'running') as running_runs,
           created_at, ready_at, destroyed_at
    from cloud_instances i where infra_no = any(${infraNos}::bigint[]) order by id
  `.execute(db)
  const byInfra = new Map<number, CloudInstance[]>()
  for (const { infra_no, ...instance } of rows) {
    const siblings = byInfra.get(infra_no)
    if (siblings) siblings.push(instance)
    else byInfra.set(infra_no, [instance])
  }
  return byInfra
}

export async function readRecord(db: Kysely<Tables>, infraNo: number): Promise<InfraRecord | undefined> {
  const [{ rows }, instances] = await Promise.all([
    sql<Omit<InfraRecord, 'instances'>>`
      select id as no, infra_id as "infraId", status, provider, region, instance_type as "instanceType",
             use_spot as "useSpot", auto_destroy as "autoDestroy", tools, expires_at as "expiresAt",
             expires_at <= now() as expired, infra_work_done(id) as "workDone", message, ssh_user as "sshUser",
             private_key as "privateKey", public_key as "publicKey"
      from cloud_infras where id = ${infraNo}
    `.execute(db),
    sql<InstanceRecord>`
      select id as no, name, status, resource_id as "resourceId", address, port, message,
             host_key_private as "hostKeyPrivate", host_key as "hostKey", created_at as "createdAt",
             (1000 * extract(epoch from clock_timestamp() - create_started_at))::float8 as "createStartedMsAgo"
      from cloud_instances where infra_no = ${infraNo} order by id
    `.execute(db),
  ])
  return rows[0] && { ...rows[0], instances: instances.rows }
}
