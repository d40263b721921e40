import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Test } from '@jest/test-result'

/**
 * The resource that a test file uses exclusively, named by a comment on a separate line: `// exclusive: docker`. Files
 * with the same word run one after another; files with `machine` (they measure time) run while no other file runs.
 */
type Exclusive = 'docker' | 'machine'

const EXCLUSIVE = /^\/\/ exclusive: (docker|machine)$/m
const LONG = /^\/\/ long$/m

export interface PlannedTest {
  readonly test: Test
  readonly exclusive: Exclusive | undefined
  readonly long: boolean
}

export const planned = (test: Test): PlannedTest => {
  const text = readFileSync(test.path, 'utf8')
  const exclusive = EXCLUSIVE.exec(text)?.[1] as Exclusive | undefined
  // Files that run one after another take as long together as a long file.
  return { test, exclusive, long: exclusive === 'docker' || LONG.test(text) }
}

/** Long files first: one that starts last would run alone at the end. */
export const longFirst = (tests: readonly PlannedTest[]): PlannedTest[] =>
  tests.toSorted((one, other) => Number(other.long) - Number(one.long))

const positionOf = ({ path }: Test, seed: number): string =>
  createHash('sha256').update(`${seed} ${path}`).digest('hex')

/** An order that the seed determines. */
export const shuffled = (tests: readonly Test[], seed: number): Test[] =>
  tests.toSorted((one, other) => positionOf(one, seed).localeCompare(positionOf(other, seed)))
