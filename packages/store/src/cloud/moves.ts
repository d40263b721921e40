import { sql, type Kysely, type RawBuilder } from 'kysely'
import { isConflict } from '../connection.ts'
import { storable, storableJson } from '../text.ts'
import type { CloudStore } from './port.ts'

/** Runs that are ended in one transaction. */
const END_CHUNK = 2_000
const MOST_CONFLICTS = 8

/**
 * Ends the runs of an infrastructure that takes no more; nothing for one that does. In chunks: whatever a crash leaves
 * undone, the next one that takes the infrastructure does. Resolves to the running runs that were asked to end.
 */
export async function endRuns(db: Kysely<unknown>, infraNo: number): Promise<number[]> {
  const asked: number[] = []
  for (let conflicts = 0; ;) {
    try {
      const { rows } = await sql<{ done: { handled: number; asked: number[] } }>`
        select end_some_runs_of_infra(${infraNo}, ${END_CHUNK}) as done
      `.execute(db)
      asked.push(...(rows[0]?.done.asked ?? []))
      if ((rows[0]?.done.handled ?? 0) === 0) return asked
    } catch (error) {
      // The caller has done something before that cannot be done twice, so it must not see these.
      if (!isConflict(error) || ++conflicts > MOST_CONFLICTS) throw error
    }
  }
}

const answer = async <T>(db: Kysely<unknown>, call: RawBuilder<unknown>): Promise<T | undefined> =>
  (await sql<{ answer: T }>`select ${call} as answer`.execute(db)).rows[0]?.answer

/** Every change of a status, and of what runs where. */
export const makeMoves = (
  db: Kysely<unknown>,
): Pick<CloudStore, 'moveInfra' | 'moveInstance' | 'instanceLost' | 'bindRuns'> => ({
  moveInfra: async (infraNo, to, message, { onlyWhenDone = false } = {}) => {
    const moved = await answer<boolean>(
      db,
      sql`move_infra(${infraNo}, ${to}, ${storable(message)}, 'failed', ${onlyWhenDone})`,
    )
    if (moved) await endRuns(db, infraNo)
    return moved ?? false
  },
  moveInstance: async (instanceNo, to, { message, resourceId, address, port }) =>
    (await answer<boolean>(
      db,
      sql`move_instance(${instanceNo}, ${to},
            ${storableJson({ message, resource_id: resourceId, address, port })}::jsonb)`,
    )) ?? false,
  instanceLost: async (instanceNo, message) => ({
    moved: (await answer<number>(db, sql`lose_instance(${instanceNo}, ${storable(message)})`)) ?? 0,
  }),
  bindRuns: async (infraNo, limit) =>
    (await answer<number>(db, sql`bind_runs(${infraNo}, ${limit}::int)`)) ?? 0,
})
