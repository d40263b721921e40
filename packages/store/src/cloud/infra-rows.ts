import type { CloudInfra, CloudInstance } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { readPage } from '../page.ts'
import type { InfraRecord, InstanceRecord } from './port.ts'

interface InfraRow extends Omit<CloudInfra, 'details' | 'ready_count' | 'total_count'> {
  readonly no: number
}

const INFRA = sql`
  i.id as no, infra_id, status, provider, region, instance_type, use_spot, auto_destroy, instances, message,
  (instances * hourly_price)::float8 as hourly_cost, (instances * hours * hourly_price)::float8 as estimated_cost,
  expires_at, created_at, ready_at, destroyed_at`

/** Of an instance in a list, without its message. */
const INSTANCE_BYTES = 512

/** Infrastructures as callers see them, newest first; `condition` is on `cloud_infras`. */
export async function readInfras(
  db: Kysely<unknown>,
  condition: RawBuilder<unknown>,
  page: { limit: number; offset: number },
): Promise<{ infras: CloudInfra[]; lastNo: number | undefined; truncated: boolean }> {
  const { rows, truncated } = await readPage<InfraRow>(db, {
    ids: sql`select id from cloud_infras where ${condition} order by id desc limit ${page.limit} offset ${page.offset}`,
    from: sql`cloud_infras i`,
    id: sql`i.id`,
    bytes: sql`octet_length(i.message) + (
      select coalesce(sum(${INSTANCE_BYTES} + octet_length(m.message)), 0) from cloud_instances m where m.infra_no = i.id)`,
    columns: INFRA,
  })
  const machines = await readInstances(
    db,
    rows.map((row) => row.no),
  )
  return {
    infras: rows.map(({ no, ...row }) => {
      const details = machines.get(no) ?? []
      const ready_count = details.filter((one) => one.status === 'ready').length
      return { ...row, ready_count, total_count: details.length, details }
    }),
    lastNo: rows.at(-1)?.no,
    truncated,
  }
}

const readInstances = async (
  db: Kysely<unknown>,
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

/** An infrastructure as the loops see it, with its secrets; undefined: there is none. */
export async function readRecord(db: Kysely<unknown>, infraNo: number): Promise<InfraRecord | undefined> {
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
             (1000 * extract(epoch from clock_timestamp() - asked_at))::float8 as "askedMsAgo"
      from cloud_instances where infra_no = ${infraNo} order by id
    `.execute(db),
  ])
  return rows[0] && { ...rows[0], instances: instances.rows }
}
