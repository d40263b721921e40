import type { CloudProviderName, InstanceStatus } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { isUuid, storable } from '../text.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstRow, firstValue } from '../rows.ts'

/** The machine on which a run executes. */
export interface RunMachine {
  readonly infraNo: number
  readonly instanceNo: number
  readonly infraId: string
  readonly provider: CloudProviderName
  readonly resourceId: string
  readonly address: string
  readonly port: number
  readonly sshUser: string
  readonly privateKey: string
  readonly hostKey: string
}

export const createMachineQueries = (db: Kysely<Tables>) => ({
  /** Of these machine names, those that the farm still uses. */
  async filterWanted(names: readonly string[]): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`
      select i.name from cloud_instances i join cloud_infras f on f.id = i.infra_no
      where i.name = any(${names.map(storable)}::text[]) and i.status in ('requested', 'booting', 'ready')
        and f.status in ('requested', 'provisioning', 'ready')
      order by i.id
    `.execute(db)
    return rows.map((row) => row.name)
  },

  /** Machines that are not known to be gone. */
  async countMachines(): Promise<{ provider: CloudProviderName; status: InstanceStatus; count: number }[]> {
    return await allRows(db)<{ provider: CloudProviderName; status: InstanceStatus; count: number }>`
      select f.provider, i.status, count(*) as count
      from cloud_instances i join cloud_infras f on f.id = i.infra_no
      where i.status not in ('destroyed', 'failed')
      group by f.provider, i.status order by f.provider, i.status
    `
  },

  /** Providers of infrastructures that are not closed. */
  async providersInUse(): Promise<CloudProviderName[]> {
    const { rows } = await sql<{ provider: CloudProviderName }>`
      select distinct provider from cloud_infras where closed_at is null order by provider
    `.execute(db)
    return rows.map((row) => row.provider)
  },

  /** True for one caller of the whole farm in each period of `everyMs`. */
  async tryAcquireReaperTurn(provider: CloudProviderName, everyMs: number): Promise<boolean> {
    return await firstValue(db, false)`
      select try_acquire_reaper_turn(${provider}, ${Math.round(everyMs)}::int) as turn
    `
  },

  /** Undefined unless this attempt of the run is running on a machine. */
  async machineOfRun(runUuid: string, attempt: number): Promise<RunMachine | undefined> {
    if (!isUuid(runUuid)) return undefined
    return await firstRow(db)<RunMachine>`
      select f.id as "infraNo", i.id as "instanceNo", f.infra_id as "infraId", f.provider,
             i.resource_id as "resourceId", i.address, i.port, f.ssh_user as "sshUser",
             f.private_key as "privateKey", i.host_key as "hostKey"
      from runs r
      join cloud_instances i on i.id = r.instance_no
      join cloud_infras f on f.id = i.infra_no
      where r.run_uuid = ${runUuid} and r.attempt = ${attempt} and r.status = 'running'
    `
  },
})
