import type { Kysely } from 'kysely'
import { createLeases } from './leases.ts'
import { createMachineQueries } from './machines.ts'
import { createRequests } from './requests.ts'
import { createTransitions } from './transitions.ts'
import type { Tables } from '../tables.ts'

/**
 * Infrastructures and their machines. One server at a time holds the lease of an infrastructure; when a server dies, its
 * lease expires and another server acquires it. The database allows only the status changes in the tables of moves in
 * contracts and ignores all others.
 */
export const createCloudStore = (db: Kysely<Tables>) => ({
  ...createRequests(db),
  ...createLeases(db),
  ...createTransitions(db),
  ...createMachineQueries(db),
})

export type CloudStore = ReturnType<typeof createCloudStore>
