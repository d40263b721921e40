import { sql, type Kysely } from 'kysely'
import { storable } from '../text.ts'
import { readRecord } from './infra-rows.ts'
import { endRuns } from './moves.ts'
import type { CloudStore, InfraRecord } from './port.ts'

const MAX_INT = 2 ** 31 - 1
const inInt = (ms: number): number => Math.min(Math.round(ms), MAX_INT)

/** One server at a time looks after an infrastructure. */
export const makeCare = (
  db: Kysely<unknown>,
): Pick<CloudStore, 'take' | 'again' | 'release' | 'setKey' | 'setHostKey' | 'asking' | 'noteInstance'> => ({
  take: (owner, holdMs) => take(db, owner, holdMs),
  again: async (infraNo, owner, holdMs) => {
    const { rows } = await sql<{ held: boolean }>`
      select hold_infra(${infraNo}, ${owner}, ${inInt(holdMs)}::int) as held
    `.execute(db)
    return rows[0]?.held ? readRecord(db, infraNo) : undefined
  },
  release: async (infraNo, owner, afterMs) => {
    await sql`select release_infra(${infraNo}, ${owner}, ${inInt(afterMs)}::int)`.execute(db)
  },
  setKey: async (infraNo, { sshUser, privateKey, publicKey }) => {
    await sql`
      update cloud_infras
      set ssh_user = ${storable(sshUser)}, private_key = ${storable(privateKey)}, public_key = ${storable(publicKey)}
      where id = ${infraNo} and private_key = '' and closed_at is null
    `.execute(db)
  },
  setHostKey: async (instanceNo, { privateKey, publicKey }) => {
    await sql`
      update cloud_instances set host_key_private = ${storable(privateKey)}, host_key = ${storable(publicKey)}
      where id = ${instanceNo} and host_key = '' and status = 'requested'
    `.execute(db)
  },
  asking: async (instanceNo, owner) => {
    const { rows } = await sql<{ noted: boolean }>`
      select asking_provider(${instanceNo}, ${owner}) as noted
    `.execute(db)
    return rows[0]?.noted ?? false
  },
  noteInstance: async (instanceNo, message) => {
    await sql`
      update cloud_instances set message = ${storable(message)}
      where id = ${instanceNo} and message <> ${storable(message)}
    `.execute(db)
  },
})

const take = async (db: Kysely<unknown>, owner: string, holdMs: number): Promise<InfraRecord | undefined> => {
  for (;;) {
    const { rows } = await sql<{ no: number | null }>`
      select take_infra(${owner}, ${inInt(holdMs)}::int) as no
    `.execute(db)
    const no = rows[0]?.no ?? undefined
    if (no === undefined) return undefined
    await endRuns(db, no)
    const closed = await sql<{ closed: boolean }>`select close_infra(${no}) as closed`.execute(db)
    if (!closed.rows[0]?.closed) return readRecord(db, no)
  }
}
