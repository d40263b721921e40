import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { folderSource, openLibrary } from '@scanfarm/workflow'
import { createCatalog } from '../../src/catalog/catalog.ts'
import { TriggerRegistry } from '../../src/loops/event-receiver/registry.ts'
import { module, openTriggerFarm, type TriggerFarm } from './_triggers.ts'

const onTopic = (topic: string): string => `    on: event
    event:
      topic: ${topic}
    input:
      target: event.test
`

let farm: TriggerFarm
beforeAll(async () => {
  farm = await openTriggerFarm({ 'first.yaml': module('first', onTopic('custom.first')) })
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

test('a look at the triggers that took long does not replace what a later one saw', async () => {
  const { schedules, triggers } = farm.store
  const [reads, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let looks = 0
  const all: typeof schedules.all = async () => {
    looks += 1
    if (looks === 1) {
      reads.resolve()
      await held.promise
    }
    return await schedules.all()
  }
  const sources = [folderSource(farm.folder)]
  const catalog = createCatalog(await openLibrary([], { sources, freshForMs: 0 }), sources)
  const registry = new TriggerRegistry(catalog, { schedules: { ...schedules, all }, triggers }, true)
  const slow = registry.current()
  await reads.promise
  await farm.write('second.yaml', module('second', onTopic('custom.second')))
  const names = async (): Promise<string[]> =>
    (await registry.current(60_000)).workflows.map(({ name }) => name).toSorted()
  expect((await registry.current()).workflows).toHaveLength(2)
  held.resolve()
  await slow
  expect(await names()).toEqual(['first', 'second'])
})
