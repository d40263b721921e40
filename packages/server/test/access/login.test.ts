import { expect, test } from '@jest/globals'
import { PasswordCheckQueue } from '../../src/access/password-check-queue.ts'

test('the queue of password checks reserves one check for known addresses and limits the waiting ones', async () => {
  const slots = new PasswordCheckQueue({ most: 3, mostWaiting: 2 })
  const ends: (() => void)[] = []
  const started: string[] = []
  const start = (name: string, known: boolean) =>
    slots.run(known, async () => {
      started.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.push(resolve)
      await promise
    })
  const all = ['a', 'b', 'c', 'd'].map((name) => start(name, false))
  await expect(start('e', false)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 })
  all.push(start('known', true), start('known too', true))
  await Promise.resolve()
  expect(started).toEqual(['a', 'b', 'known'])
  for (const more of ['known too', 'c', 'd']) {
    while (started.at(-1) !== more) {
      ends.shift()?.()
      await new Promise(setImmediate)
    }
  }
  const ended = Promise.all(all)
  for (const end of ends) end()
  await ended
  expect(started).toEqual(['a', 'b', 'known', 'known too', 'c', 'd'])
})
