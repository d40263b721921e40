import { nft } from './nft.ts'
import { tableNames, usersOf } from './nft-answers.ts'
import { FAMILIES, USERS } from './ruleset.ts'
import { busyUids, deadTables, isOfWorker } from './table-names.ts'

export const workerTables = async (): Promise<string[]> =>
  tableNames(await nft('', ['-j', 'list', 'tables'])).filter(isOfWorker)

/**
 * Removes tables of workers that were killed, except the rules of users that still have processes. Resolves to whether
 * there were any. `isFree`: of these users such a worker has left none.
 */
export const removeDead = async (
  isFree: (uid: number) => boolean,
  onError: (error: unknown) => void,
): Promise<boolean> => {
  const dead = deadTables(await workerTables())
  if (dead.length === 0) return false
  const busy = busyUids()
  for (const table of dead) {
    // Another worker may remove the same, and other builds have no such map.
    const families = await Promise.all(
      FAMILIES.map(async (family) => {
        const users = await nft('', ['-j', 'list', 'map', family, table, USERS]).then(usersOf, () => [])
        return { family, users, free: users.filter((uid) => isFree(uid) || !busy.has(uid)) }
      }),
    )
    const statements = families.every(({ users, free }) => users.length === free.length)
      ? FAMILIES.map((family) => `delete table ${family} ${table}`)
      : families.flatMap(({ family, free }) =>
          free.map((uid) => `delete element ${family} ${table} ${USERS} { ${uid} }`),
        )
    if (statements.length > 0) await nft(`${statements.join('\n')}\n`).catch(onError)
  }
  return true
}
