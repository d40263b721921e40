import type { CloudProviderName, InstanceStatus } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { isUuid, storable } from '../text.ts'
import type { CloudStore, RunPlace } from './port.ts'

/** Which machines there should be, and where a run is. */
export const makeMachines = (
  db: Kysely<unknown>,
): Pick<CloudStore, 'wanted' | 'countMachines' | 'providersInUse' | 'reaping' | 'placeOf'> => ({
  wanted: async (names) => {
    const { rows } = await sql<{ name: string }>`
      select i.name from cloud_instances i join cloud_infras f on f.id = i.infra_no
      where i.name = any(${names.map(storable)}::text[]) and i.status in ('requested', 'booting', 'ready')
        and f.status in ('requested', 'provisioning', 'ready')
      order by i.id
    `.execute(db)
    return rows.map((row) => row.name)
  },
  countMachines: async () => {
    const { rows } = await sql<{ provider: CloudProviderName; status: InstanceStatus; count: number }>`
      select f.provider, i.status, count(*) as count
      from cloud_instances i join cloud_infras f on f.id = i.infra_no
      where i.status not in ('destroyed', 'failed')
      group by f.provider, i.status order by f.provider, i.status
    `.execute(db)
    return rows
  },
  providersInUse: async () => {
    const { rows } = await sql<{ provider: CloudProviderName }>`
      select distinct provider from cloud_infras where closed_at is null order by provider
    `.execute(db)
    return rows.map((row) => row.provider)
  },
  reaping: async (provider, everyMs) => {
    const { rows } = await sql<{ turn: boolean }>`
      select turn_of_reaper(${provider}, ${Math.round(everyMs)}::int) as turn
    `.execute(db)
    return rows[0]?.turn ?? false
  },
  placeOf: async (runUuid, attempt) => {
    if (!isUuid(runUuid)) return undefined
    const { rows } = await sql<RunPlace>`
      select f.id as "infraNo", i.id as "instanceNo", f.infra_id as "infraId", f.provider,
             i.resource_id as "resourceId", i.address, i.port, f.ssh_user as "sshUser",
             f.private_key as "privateKey", i.host_key as "hostKey"
      from runs r
      join cloud_instances i on i.id = r.instance_no
      join cloud_infras f on f.id = i.infra_no
      where r.run_uuid = ${runUuid} and r.attempt = ${attempt} and r.status = 'running'
    `.execute(db)
    return rows[0]
  },
})
