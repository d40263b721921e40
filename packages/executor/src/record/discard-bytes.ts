import type { ArtifactStore, ClaimedRun, RunStore } from '@scanfarm/contracts'

const AT_ONCE = 500

/**
 * Removes the bytes of an attempt that is over and whose rows were refused, or never written. Rejects when the store or
 * the database does; masters remove later what is left then.
 */
export async function discardBytes(
  { runUuid, attempt }: Pick<ClaimedRun, 'runUuid' | 'attempt'>,
  keys: readonly string[],
  { store, artifacts }: { store: Pick<RunStore, 'strayKeys'>; artifacts: Pick<ArtifactStore, 'remove'> },
): Promise<void> {
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const part = keys.slice(from, from + AT_ONCE).map((key) => ({ runUuid, attempt, key }))
    // A write whose answer was lost may have made its rows.
    for (const key of await store.strayKeys(part)) await artifacts.remove(key)
  }
}
