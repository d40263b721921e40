import type { Manifest } from './manifest.ts'
import { readManifest } from './read-manifest.ts'
import type { Facts } from './schema.ts'

type Report = Facts['stop']['int']['report']

/** The better, the greater. */
const WORTH: Readonly<Record<Report, number>> = { none: 0, error: 1, cut: 2, complete: 3 }
/** A busy machine makes programs slower than they were when they were tried. */
const SLOWER = 2
const MOST_MS = 15_000
const SECOND_MS = 1000
/** Longer names are cut by the kernel. */
const NAME_LENGTH = 15

/** How long each program may take to end after INT whose report is better then than after TERM. */
export const programsToInterrupt = (manifest: Manifest = readManifest()): ReadonlyMap<string, number> =>
  new Map(
    [...manifest.values()].flatMap(({ name, facts }) => {
      if (facts === undefined) return []
      const { term, int } = facts.stop
      if (int.exit === 'running' || WORTH[int.report] <= WORTH[term.report]) return []
      return [[name.slice(0, NAME_LENGTH), Math.min(MOST_MS, int.seconds * SLOWER * SECOND_MS)]]
    }),
  )
