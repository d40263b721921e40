import { expect, test } from '@jest/globals'
import { planTake } from '../src/plan-take.ts'

const heads = (...pairs: readonly (readonly [rank: number, runId: number])[]) =>
  pairs.map(([rank, runId]) => ({ rank, runId }))

test('takes nothing from empty queues', () => {
  expect(planTake([], 5)).toEqual([])
  expect(planTake([[], []], 5)).toEqual([0, 0])
})

test('takes the lowest ranks of all queues', () => {
  expect(planTake([heads([1, 9], [3, 1], [4, 2]), heads([2, 7], [2, 8], [4, 3])], 3)).toEqual([1, 2])
})

test('takes the oldest runs of equal ranks, in whichever queue they are', () => {
  expect(planTake([heads([3, 10], [3, 40]), heads([3, 20], [3, 30])], 3)).toEqual([1, 2])
  expect(planTake([heads([3, 75]), heads([3, 5])], 1)).toEqual([0, 1])
})

test('takes messages of a dead consumer first', () => {
  expect(planTake([heads([1, 1]), heads([0, 9], [1, 2])], 2)).toEqual([1, 1])
})

test('takes no more messages than there are', () => {
  expect(planTake([heads([1, 1]), heads([4, 2], [4, 3])], 10)).toEqual([1, 2])
})
