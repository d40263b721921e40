import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { RunStatus } from '../src/index.ts'
import { INFRA_MOVES, INSTANCE_MOVES, isTerminal, RUN_MOVES, sources, STEP_MOVES } from '../src/index.ts'

const document = readFileSync(join(import.meta.dirname, '../../../docs/architecture.md'), 'utf8')

const drawn = (diagram: number): Set<string> => {
  const text = document.split('```mermaid')[diagram]?.split('```')[0] ?? ''
  const arrows = [...text.matchAll(/^ *(\w+) --> (\w+)/gm)]
  return new Set(arrows.map(([, from, to]) => `${from} -> ${to}`))
}

const moves = (table: Readonly<Record<string, readonly string[]>>): Set<string> =>
  new Set(Object.entries(table).flatMap(([from, targets]) => targets.map((to) => `${from} -> ${to}`)))

test('the first diagram of docs/architecture.md shows exactly the moves of a run', () => {
  expect(drawn(1)).toEqual(moves(RUN_MOVES))
})

test('the second diagram of docs/architecture.md shows exactly the moves of a step', () => {
  expect(drawn(2)).toEqual(moves(STEP_MOVES))
})

test('the third diagram of docs/architecture.md shows exactly the moves of an infrastructure', () => {
  expect(drawn(3)).toEqual(moves(INFRA_MOVES))
})

test('the fourth diagram of docs/architecture.md shows exactly the moves of a machine', () => {
  expect(drawn(4)).toEqual(moves(INSTANCE_MOVES))
})

test('the terminal statuses are completed, failed and cancelled', () => {
  const statuses = Object.keys(RUN_MOVES) as RunStatus[]
  expect(statuses.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled'])
})

test('only queued runs can start', () => {
  expect(sources('running')).toEqual(['queued'])
})
