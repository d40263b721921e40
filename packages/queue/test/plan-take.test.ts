import { expect, test } from '@jest/globals'
import { planTake } from '../src/plan-take.ts'

test('takes nothing from empty queues', () => {
  expect(planTake([], 5)).toEqual([])
  expect(planTake([[], []], 5)).toEqual([0, 0])
})

test('takes the lowest ranks over all queues', () => {
  expect(
    planTake(
      [
        [1, 3, 4],
        [2, 2, 4],
      ],
      3,
    ),
  ).toEqual([1, 2])
})

test('deals equal ranks out in turn', () => {
  expect(
    planTake(
      [
        [3, 3, 3, 3],
        [3, 3, 3, 3],
      ],
      4,
    ),
  ).toEqual([2, 2])
})

test('takes no more than there is', () => {
  expect(planTake([[1], [4, 4]], 10)).toEqual([1, 2])
})
