import { expect, test } from '@jest/globals'
import { planTake } from '../src/plan-take.ts'

const heads = (...pairs: readonly (readonly [rank: number, runId: number])[]) =>
  pairs.map(([rank, runId]) => ({ rank, place: 0, runId }))

test('Empty queues have nothing to take', () => {
  expect(planTake([], 5)).toEqual([])
  expect(planTake([[], []], 5)).toEqual([0, 0])
})

test('The lowest ranks of all queues are taken', () => {
  expect(planTake([heads([1, 9], [3, 1], [4, 2]), heads([2, 7], [2, 8], [4, 3])], 3)).toEqual([1, 2])
})

test('Of equal ranks the oldest runs of all queues are taken', () => {
  expect(planTake([heads([3, 10], [3, 40]), heads([3, 20], [3, 30])], 3)).toEqual([1, 2])
  expect(planTake([heads([3, 75]), heads([3, 5])], 1)).toEqual([0, 1])
})

test('Among equal ranks the lower place is taken first, whatever the age of the run', () => {
  const places = (...all: readonly number[]) => all.map((place) => ({ rank: 3, place, runId: place * 10 }))
  const older = places(5, 6, 7).map((head) => ({ ...head, runId: 1 }))
  expect(planTake([older, places(2, 6, 8)], 3)).toEqual([2, 1])
})

test('Messages of a dead consumer are taken first', () => {
  expect(planTake([heads([1, 1]), heads([0, 9], [1, 2])], 2)).toEqual([1, 1])
})

test('No more messages are taken than exist', () => {
  expect(planTake([heads([1, 1]), heads([4, 2], [4, 3])], 10)).toEqual([1, 2])
})
