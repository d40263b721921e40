import { expect, test } from '@jest/globals'
import { SaveQueues } from '../src/index.ts'

/** Saves that begin when their queue is free, and end when the test says so. */
const begun = () => {
  const open = new Map<string, PromiseWithResolvers<string>>()
  const save = (name: string): Promise<string> => {
    const ends = Promise.withResolvers<string>()
    open.set(name, ends)
    return ends.promise
  }
  const end = async (name: string, error?: Error): Promise<void> => {
    if (error === undefined) open.get(name)?.resolve(name)
    else open.get(name)?.reject(error)
    open.delete(name)
    await turn()
  }
  return { save, end, names: () => [...open.keys()] }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('A queue saves its parts in order, and does not wait for the other queue', async () => {
  await using queues = new SaveQueues()
  const { save, end, names } = begun()
  const first = queues.save(['a1', 'b1'], save)
  const second = queues.save(['a2', 'b2'], save)
  await turn()
  expect(names()).toEqual(['a1', 'b1'])
  await end('b1')
  expect(names()).toEqual(['a1', 'b2'])
  await end('b2')
  await end('a1')
  await end('a2')
  expect(await Promise.all([first, second])).toEqual([
    ['a1', 'b1'],
    ['a2', 'b2'],
  ])
})

test('A single part waits for both queues, and both wait for it', async () => {
  await using queues = new SaveQueues()
  const { save, end, names } = begun()
  void queues.save(['a1', 'b1'], save)
  const single = queues.save(['ab2'], save)
  void queues.save(['a3', 'b3'], save)
  await turn()
  await end('a1')
  expect(names()).toEqual(['b1'])
  await end('b1')
  expect(names()).toEqual(['ab2'])
  await end('ab2')
  expect(await single).toEqual(['ab2'])
  expect(names()).toEqual(['a3', 'b3'])
  await end('a3')
  await end('b3')
})

test('After an error a queue saves nothing more, and the end waits for what is being saved', async () => {
  const { save, end, names } = begun()
  let isDisposed = false
  const queues = new SaveQueues()
  const saves = [queues.save(['a1', 'b1'], save), queues.save(['ab2'], save)]
  for (const one of saves) one.catch(() => undefined)
  await turn()
  await end('a1', new Error('the disk is full'))
  const disposed = queues[Symbol.asyncDispose]().then(() => (isDisposed = true))
  await turn()
  expect([isDisposed, names()]).toEqual([false, ['b1']])
  await end('b1')
  await disposed
  expect(names()).toEqual([])
  for (const one of saves) await expect(one).rejects.toThrow('the disk is full')
})
