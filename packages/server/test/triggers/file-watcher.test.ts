import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { silentLogger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { EventReceiver } from '../../src/triggers/event-receiver.ts'
import { FileWatcher } from '../../src/triggers/file-watcher.ts'
import { module, NEVER, openTriggerHarness } from './_trigger-harness.ts'

const harness = forAllTests(() => openTriggerHarness({}))
beforeAll(async () => {
  await harness.write(
    'drop.yaml',
    module(
      'drop',
      `    on: watch
    path: ${harness.folder}/*.drop
    debounce: 5s
    input:
      target: replace(event_data.name, ".drop", ".test")
      note: event_data.size`,
    ),
  )
})

const watcherOf = (receiver: EventReceiver & { store: Store }) =>
  new FileWatcher(receiver, receiver.store.triggers, silentLogger)
const put = async (name: string, text: string, second: number): Promise<void> => {
  const path = join(harness.folder, name)
  await writeFile(path, text)
  await utimes(path, second, second)
}
const targets = async (): Promise<unknown[]> =>
  (await harness.sql('select target from runs order by id')).map(({ target }) => target)
const SECOND = 1_000

describe('a watch trigger', () => {
  test('files that exist before the trigger do not fire', async () => {
    await put('old.drop', 'x', 1_000)
    const watcher = watcherOf(await harness.master())
    for (const now of [0, 10, 20]) await watcher.scanOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual([])
  })

  test('a new file fires once after it is stable, and again after a change', async () => {
    const watcher = watcherOf(await harness.master())
    await watcher.scanOnce(0, NEVER)
    await put('a.drop', 'x', 1_000)
    await watcher.scanOnce(1 * SECOND, NEVER)
    await put('a.drop', 'xy', 1_001)
    for (const now of [4, 8]) await watcher.scanOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual([])
    for (const now of [9, 10, 20]) await watcher.scanOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual(['a.test'])
    const [run] = (await harness.store.runs.list({}, { offset: 0, limit: 1 })).data
    expect(run).toMatchObject({ trigger_type: 'watch', params: { note: '2' } })
    await put('a.drop', 'xyz', 1_002)
    for (const now of [21, 27, 40]) await watcher.scanOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual(['a.test', 'a.test'])
  })

  test('after a restart new files fire and known ones do not', async () => {
    await put('b.drop', 'x', 1_000)
    const watcher = watcherOf(await harness.master())
    for (const now of [0, 6, 12]) await watcher.scanOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual(['a.test', 'a.test', 'b.test'])
  })

  test('a file fires once for several masters, and not if it returns unchanged', async () => {
    const watchers = (await Promise.all([harness.master(), harness.master()])).map(watcherOf)
    const scanAll = (now: number) => Promise.all(watchers.map((one) => one.scanOnce(now * SECOND, NEVER)))
    await scanAll(0)
    await put('c.drop', 'x', 1_000)
    for (const now of [1, 7, 8]) await scanAll(now)
    expect((await targets()).slice(3)).toEqual(['c.test'])
    await rm(join(harness.folder, 'c.drop'))
    await scanAll(9)
    await put('c.drop', 'x', 1_000)
    for (const now of [10, 16, 17]) await scanAll(now)
    expect((await targets()).slice(3)).toEqual(['c.test'])
  })

  test('the files in a folder are watched, whatever characters its name contains', async () => {
    const inbox = join(harness.folder, 'inbox[1]')
    await mkdir(inbox)
    await harness.write(
      'inbox.yaml',
      module('inbox', `    on: watch\n    path: '${inbox}/'\n    input: {target: event_data.name}`),
    )
    const watcher = watcherOf(await harness.master())
    await watcher.scanOnce(0, NEVER)
    await put('inbox[1]/folder.test', 'x', 1_000)
    for (const now of [1, 7, 8]) await watcher.scanOnce(now * SECOND, NEVER)
    expect((await targets()).slice(4)).toEqual(['folder.test'])
  })

  test('a file whose name is not a valid target is reported and starts nothing', async () => {
    const watcher = watcherOf(await harness.master())
    await watcher.scanOnce(0, NEVER)
    await put('$(id).drop', 'x', 1_000)
    for (const now of [1, 7]) await watcher.scanOnce(now * SECOND, NEVER)
    expect(await targets()).toHaveLength(5)
    const [entry] = (
      await harness.store.events.list({ topic: 'schedule.triggered' }, { offset: 0, limit: 1 })
    ).data
    expect(entry?.error).toContain('a target must not contain')
    expect(JSON.parse(entry?.data ?? '')).toMatchObject({ name: '$(id).drop' })
  })
})
