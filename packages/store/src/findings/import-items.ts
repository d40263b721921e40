import { addImports, NOTHING_IMPORTED, type ImportSummary } from '@scanfarm/contracts'
import type { Kysely, RawBuilder } from 'kysely'
import { retryConflicts } from '../database/retry.ts'
import { firstValue } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { halvesOf } from './import-item.ts'
import type { SaveQueues } from './save-queues.ts'

/**
 * Saves items in two transactions, each with its events. `callsFor`: `see` only counts the items as seen, and is null if one
 * of them changes something; then `save` saves them. A conflict repeats its transaction alone: the other one has counted.
 */
export const importItems = async <T extends Parameters<typeof halvesOf>[0][number]>(
  db: Kysely<Tables>,
  items: readonly T[],
  queues: SaveQueues,
  callsFor: (half: readonly T[]) => {
    readonly see: RawBuilder<unknown>
    readonly save: () => RawBuilder<unknown>
  },
): Promise<ImportSummary> => {
  const answer = (call: RawBuilder<unknown>) =>
    retryConflicts(() => firstValue<ImportSummary | undefined>(db, undefined)`select ${call}`)
  const counts = await queues.save(halvesOf(items), async (half) => {
    if (half.length === 0) return NOTHING_IMPORTED
    const { see, save } = callsFor(half)
    const counted = (await answer(see)) ?? (await answer(save()))
    if (counted === undefined) throw new Error('an import was not answered')
    return counted
  })
  return counts.reduce(addImports, NOTHING_IMPORTED)
}
