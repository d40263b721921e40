import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { EventReceiver } from '../../src/loops/event-receiver/receiver.ts'
import { Watcher } from '../../src/loops/watcher/watcher.ts'
import { module, NEVER, openTriggerFarm, type TriggerFarm } from './_triggers.ts'

let farm: TriggerFarm
beforeAll(async () => {
  farm = await openTriggerFarm({})
  await farm.write(
    'drop.yaml',
    module(
      'drop',
      `    on: watch
    path: ${farm.folder}/*.drop
    debounce: 5s
    input:
      target: replace(event_data.name, ".drop", ".test")
      note: event_data.size`,
    ),
  )
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

const watcherOf = (receiver: EventReceiver & { store: Store }) =>
  new Watcher(receiver, receiver.store.triggers, silentLogger)
const put = async (name: string, text: string, second: number): Promise<void> => {
  const path = join(farm.folder, name)
  await writeFile(path, text)
  await utimes(path, second, second)
}
const targets = async (): Promise<unknown[]> =>
  (await farm.sql('select target from runs order by id')).map(({ target }) => target)
const SECOND = 1_000

describe('a watch', () => {
  test('does not fire for what was there before it', async () => {
    await put('old.drop', 'x', 1_000)
    const watcher = watcherOf(await farm.master())
    for (const now of [0, 10, 20]) await watcher.lookOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual([])
  })

  test('fires once for a new file when it has been quiet, and once more when it has changed', async () => {
    const watcher = watcherOf(await farm.master())
    await watcher.lookOnce(0, NEVER)
    await put('a.drop', 'x', 1_000)
    await watcher.lookOnce(1 * SECOND, NEVER)
    await put('a.drop', 'xy', 1_001)
    for (const now of [4, 8]) await watcher.lookOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual([])
    for (const now of [9, 10, 20]) await watcher.lookOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual(['a.test'])
    const [run] = (await farm.store.runs.list({}, { offset: 0, limit: 1 })).data
    expect(run).toMatchObject({ trigger_type: 'watch', params: { note: '2' } })
    await put('a.drop', 'xyz', 1_002)
    for (const now of [21, 27, 40]) await watcher.lookOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual(['a.test', 'a.test'])
  })

  test('sees after a restart what came meanwhile, and nothing twice', async () => {
    await put('b.drop', 'x', 1_000)
    const watcher = watcherOf(await farm.master())
    for (const now of [0, 6, 12]) await watcher.lookOnce(now * SECOND, NEVER)
    expect(await targets()).toEqual(['a.test', 'a.test', 'b.test'])
  })

  test('fires once though several masters see the file, and none for a file that came back as it was', async () => {
    const watchers = (await Promise.all([farm.master(), farm.master()])).map(watcherOf)
    const look = (now: number) => Promise.all(watchers.map((one) => one.lookOnce(now * SECOND, NEVER)))
    await look(0)
    await put('c.drop', 'x', 1_000)
    for (const now of [1, 7, 8]) await look(now)
    expect((await targets()).slice(3)).toEqual(['c.test'])
    await rm(join(farm.folder, 'c.drop'))
    await look(9)
    await put('c.drop', 'x', 1_000)
    for (const now of [10, 16, 17]) await look(now)
    expect((await targets()).slice(3)).toEqual(['c.test'])
  })

  test('watches the files in a folder, whatever characters its name has', async () => {
    const inbox = join(farm.folder, 'inbox[1]')
    await mkdir(inbox)
    await farm.write(
      'inbox.yaml',
      module('inbox', `    on: watch\n    path: '${inbox}/'\n    input: {target: event_data.name}`),
    )
    const watcher = watcherOf(await farm.master())
    await watcher.lookOnce(0, NEVER)
    await put('inbox[1]/folder.test', 'x', 1_000)
    for (const now of [1, 7, 8]) await watcher.lookOnce(now * SECOND, NEVER)
    expect((await targets()).slice(4)).toEqual(['folder.test'])
  })

  test('tells of a file whose name is no target, and starts nothing for it', async () => {
    const watcher = watcherOf(await farm.master())
    await watcher.lookOnce(0, NEVER)
    await put('$(id).drop', 'x', 1_000)
    for (const now of [1, 7]) await watcher.lookOnce(now * SECOND, NEVER)
    expect(await targets()).toHaveLength(5)
    const [entry] = (await farm.store.events.list({ topic: 'schedule.triggered' }, { offset: 0, limit: 1 }))
      .data
    expect(entry?.error).toContain('a target must not contain')
    expect(JSON.parse(entry?.data ?? '')).toMatchObject({ name: '$(id).drop' })
  })
})
