import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { TurnLimit } from '../../src/slots/turn-limit.ts'

test('as many as allowed enter in each turn of the event loop, in their order', async () => {
  const limit = new TurnLimit(3)
  const entered: number[] = []
  const enterAll = Array.from({ length: 7 }, async (_, number) => {
    await limit.enter()
    entered.push(number)
  })
  const afterEachTurn: number[][] = []
  for (let turn = 0; turn < 2; turn += 1) {
    await nextTurn()
    afterEachTurn.push([...entered])
  }
  expect(afterEachTurn).toEqual([
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, 4, 5, 6],
  ])
  await Promise.all(enterAll)
})

test('the first ones of a turn enter without waiting for the next turn', async () => {
  const limit = new TurnLimit(2)
  for (let turn = 0; turn < 3; turn += 1) {
    let hasTurned = false
    const turned = nextTurn().then(() => (hasTurned = true))
    await limit.enter()
    await limit.enter()
    expect(hasTurned).toBe(false)
    await turned
  }
})

test('one that enters while others wait enters after them', async () => {
  const limit = new TurnLimit(1)
  const entered: string[] = []
  const enter = async (name: string): Promise<void> => {
    await limit.enter()
    entered.push(name)
  }
  await Promise.all([enter('first'), enter('second'), nextTurn().then(() => enter('late')), enter('third')])
  expect(entered).toEqual(['first', 'second', 'third', 'late'])
})
