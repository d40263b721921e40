import type { InfraStatus, InstanceStatus } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { isConflict } from '../database/connection.ts'
import { storable, storableJson } from '../text.ts'
import type { Tables } from '../tables.ts'

/** Runs that are ended in one transaction. */
const END_CHUNK = 2_000
const MOST_CONFLICTS = 8

export interface InstanceFacts {
  readonly message?: string
  readonly resourceId?: string
  readonly address?: string
  readonly port?: number
}

/**
 * Ends the runs of an infrastructure that accepts no more runs, in chunks; does nothing to any other infrastructure. What a
 * crash leaves undone, the next owner of the lease does. Resolves with the running runs that were asked to end.
 */
export async function endRuns(db: Kysely<Tables>, infraNo: number): Promise<number[]> {
  const asked: number[] = []
  for (let conflicts = 0; ;) {
    try {
      const { rows } = await sql<{ done: { handled: number; asked: number[] } }>`
        select end_some_runs_of_infra(${infraNo}, ${END_CHUNK}) as done
      `.execute(db)
      asked.push(...(rows[0]?.done.asked ?? []))
      if ((rows[0]?.done.handled ?? 0) === 0) return asked
    } catch (error) {
      // Callers must not retry: the statement that they executed before this one is not repeatable.
      if (!isConflict(error) || ++conflicts > MOST_CONFLICTS) throw error
    }
  }
}

const answer = async <T>(db: Kysely<Tables>, call: RawBuilder<unknown>): Promise<T | undefined> =>
  (await sql<{ answer: T }>`select ${call} as answer`.execute(db)).rows[0]?.answer

/** Every status change, and the binding of runs to machines. */
export const createTransitions = (db: Kysely<Tables>) => ({
  /**
   * Whether the status changed. `failed` and `draining` end all runs of the infrastructure with the message, also running
   * ones. `destroyed` is refused while a machine is left. `onlyWhenDone` refuses the change if a job was bound to the
   * infrastructure since its record was read.
   */
  async moveInfra(
    infraNo: number,
    to: InfraStatus,
    message: string,
    { onlyWhenDone = false }: { readonly onlyWhenDone?: boolean } = {},
  ): Promise<boolean> {
    const moved = await answer<boolean>(
      db,
      sql`move_infra(${infraNo}, ${to}, ${storable(message)}, 'failed', ${onlyWhenDone})`,
    )
    if (moved) await endRuns(db, infraNo)
    return moved ?? false
  },

  /** Whether the status changed. Runs of a machine that leaves `ready` are queued again, as in `loseInstance`. */
  async moveInstance(
    instanceNo: number,
    to: InstanceStatus,
    { message, resourceId, address, port }: InstanceFacts,
  ): Promise<boolean> {
    const facts = storableJson({ message, resource_id: resourceId, address, port })
    return (await answer<boolean>(db, sql`move_instance(${instanceNo}, ${to}, ${facts}::jsonb)`)) ?? false
  },

  /** For a machine that disappeared: → `destroying`. Its running runs are queued again and bound to another machine. */
  async loseInstance(instanceNo: number, message: string): Promise<{ moved: number }> {
    return { moved: (await answer<number>(db, sql`lose_instance(${instanceNo}, ${storable(message)})`)) ?? 0 }
  },

  /** Binds waiting runs of a ready infrastructure to its ready machines, round-robin. Resolves with their number. */
  async bindRuns(infraNo: number, limit: number): Promise<number> {
    return (await answer<number>(db, sql`bind_runs(${infraNo}, ${limit}::int)`)) ?? 0
  },
})
