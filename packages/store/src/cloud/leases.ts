import { sql, type Kysely } from 'kysely'
import { storable } from '../text.ts'
import { readRecord, type InfraRecord } from './infra-records.ts'
import { endRuns } from './transitions.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

const MAX_INT = 2 ** 31 - 1
const inInt = (ms: number): number => Math.min(Math.round(ms), MAX_INT)

/** Leases of infrastructures, and what the holder of a lease writes besides status changes. */
export const createLeases = (db: Kysely<Tables>) => ({
  /**
   * Leases one infrastructure that is due and unleased to the owner for `leaseMs`. Due are open infrastructures and closed
   * ones that still have machines. Undefined when none is due.
   */
  async acquire(owner: string, leaseMs: number): Promise<InfraRecord | undefined> {
    for (;;) {
      const no = await firstValue<number | undefined>(db, undefined)`
        select acquire_infra(${owner}, ${inInt(leaseMs)}::int) as no
      `
      if (no === undefined) return undefined
      await endRuns(db, no)
      if (!(await firstValue(db, false)`select close_infra(${no}) as closed`)) return readRecord(db, no)
    }
  },

  /** Extends the lease and reads the infrastructure again; undefined when the owner has lost the lease. */
  async renew(infraNo: number, owner: string, leaseMs: number): Promise<InfraRecord | undefined> {
    const isHeld = await firstValue(db, false)`
      select renew_infra(${infraNo}, ${owner}, ${inInt(leaseMs)}::int) as held
    `
    return isHeld ? readRecord(db, infraNo) : undefined
  },

  /** The infrastructure is due again after `afterMs`, or at once if it was marked as due during the lease. */
  async release(infraNo: number, owner: string, afterMs: number): Promise<void> {
    await sql`select release_infra(${infraNo}, ${owner}, ${inInt(afterMs)}::int)`.execute(db)
  },

  /** Keeps a key that is already set. Read the key in force with `renew`. */
  async setKey(
    infraNo: number,
    { sshUser, privateKey, publicKey }: { sshUser: string; privateKey: string; publicKey: string },
  ): Promise<void> {
    await db
      .updateTable('cloud_infras')
      .set({
        ssh_user: storable(sshUser),
        private_key: storable(privateKey),
        public_key: storable(publicKey),
      })
      .where('id', '=', infraNo)
      .where('private_key', '=', '')
      .where('closed_at', 'is', null)
      .execute()
  },

  async setHostKey(
    instanceNo: number,
    { privateKey, publicKey }: { privateKey: string; publicKey: string },
  ): Promise<void> {
    await db
      .updateTable('cloud_instances')
      .set({ host_key_private: storable(privateKey), host_key: storable(publicKey) })
      .where('id', '=', instanceNo)
      .where('host_key', '=', '')
      .where('status', '=', 'requested')
      .execute()
  },

  /**
   * Call it before each create call to the provider. False: the owner has lost the lease, the infrastructure is not
   * `provisioning` or the machine is not `requested`. The caller must then not create the machine.
   */
  async markCreateStarted(instanceNo: number, owner: string): Promise<boolean> {
    return await firstValue(db, false)`
      select mark_create_started(${instanceNo}, ${owner}) as noted
    `
  },

  async setInstanceMessage(instanceNo: number, message: string): Promise<void> {
    const text = storable(message)
    await db
      .updateTable('cloud_instances')
      .set({ message: text })
      .where('id', '=', instanceNo)
      .where('message', '<>', text)
      .execute()
  },
})
