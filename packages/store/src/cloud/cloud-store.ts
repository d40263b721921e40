import type { Kysely } from 'kysely'
import { makeCare } from './care.ts'
import { makeMachines } from './machines.ts'
import { makeMoves } from './moves.ts'
import type { CloudStore } from './port.ts'
import { makeRequests } from './requests.ts'

export const makeCloudStore = (db: Kysely<unknown>): CloudStore => ({
  ...makeRequests(db),
  ...makeCare(db),
  ...makeMoves(db),
  ...makeMachines(db),
})
