import { expect, test } from '@jest/globals'
import { folderSource, openLibrary } from '@scanfarm/engine'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { createCatalog } from '../../src/catalog/catalog.ts'
import { TriggerRegistry } from '../../src/triggers/trigger-registry.ts'
import { module, openTriggerHarness } from './_trigger-harness.ts'

const onTopic = (topic: string): string => `    on: event
    event:
      topic: ${topic}
    input:
      target: event.test
`

const harness = forAllTests(() =>
  openTriggerHarness({ 'first.yaml': module('first', onTopic('custom.first')) }),
)

test('a slow reload of the triggers does not replace the result of a later one', async () => {
  const { schedules, triggers } = harness.store
  const [reads, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const all: typeof schedules.all = async () => {
    count += 1
    if (count === 1) {
      reads.resolve()
      await held.promise
    }
    return await schedules.all()
  }
  const sources = [folderSource(harness.folder)]
  const catalog = createCatalog(await openLibrary([], { sources, freshForMs: 0 }), sources)
  const registry = new TriggerRegistry(catalog, { schedules: { ...schedules, all }, triggers }, true)
  const slow = registry.current()
  await reads.promise
  await harness.write('second.yaml', module('second', onTopic('custom.second')))
  const names = async (): Promise<string[]> =>
    (await registry.current(60_000)).workflows.map(({ name }) => name).toSorted()
  expect((await registry.current()).workflows).toHaveLength(2)
  held.resolve()
  await slow
  expect(await names()).toEqual(['first', 'second'])
})
