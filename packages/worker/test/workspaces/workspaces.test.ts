import { randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { createSweep, type SweepOptions } from '../../src/workspaces/sweep.ts'
import type { Executor } from '../../src/slots/executor.ts'
import { Homes } from '../../src/workspaces/homes.ts'
import { WorkspaceUses } from '../../src/workspaces/workspace-uses.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const DAYS = 30
const DAY_MS = 86_400_000
const NEVER = new AbortController().signal
const RUN = 'e0c8d4b8'

const harness = forAllTests(openHarness)
let executor: Executor
beforeEach(() => {
  executor = harness.executor()
})
afterEach(async () => {
  await executor[Symbol.asyncDispose]()
})

const folders = async (): Promise<string[]> => (await readdir(join(harness.folder, 'work/workspaces'))).sort()
const folderOf = (workspace: string): string => join(harness.folder, 'work/workspaces', workspace)

/** Submits runs in these workspaces and waits for their end. */
const runsIn = async (...workspaces: string[]): Promise<number[]> => {
  const runIds = await harness.submit(
    [bash('work', 'mkdir -p {{Output}}/d; seq 100 > {{Output}}/d/found.txt')],
    { targets: workspaces },
  )
  for (const runId of runIds) expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  await executor.drain(TEST_MS)
  executor = harness.executor()
  return runIds
}

const ageRuns = (runIds: readonly number[]) =>
  harness.sql(
    `update runs set created_at = created_at - interval '31 days', completed_at = completed_at - interval '31 days'
         where id = any($1)`,
    [runIds],
  )

const pruneRuns = async (runIds: readonly number[]): Promise<void> => {
  await ageRuns(runIds)
  expect(await harness.store.retention.removeRuns(runIds, DAYS)).toBe(runIds.length)
}

const makeOld = async (workspace: string): Promise<void> => {
  const then = new Date(Date.now() - (DAYS + 1) * DAY_MS)
  await utimes(folderOf(workspace), then, then)
}

const sweep = (retention: Partial<SweepOptions['retention']> = {}, changes: Partial<SweepOptions> = {}) =>
  createSweep({
    store: harness.runStore,
    runners: { sweepContainers: async () => 0 },
    executor,
    retention: { workspaceDays: 0, ...retention },
    log: silentLogger,
    ...changes,
  })()

test('The folder of a workspace is removed after its last run was removed', async () => {
  const gone = await runsIn('pruned.test', 'shared.test')
  const [young = 0] = await runsIn('shared.test')
  await mkdir(folderOf('of-another-farm'))
  await pruneRuns(gone)
  await sweep()
  expect(await folders()).toEqual(['of-another-farm', 'shared.test'])
  await pruneRuns([young])
  await sweep()
  expect(await folders()).toEqual(['of-another-farm'])
  expect(await readdir(join(harness.folder, 'work/workspace-uses'))).toEqual([])
})

test('What an ended batch left is removed when no other batch of its loop has taken it for a minute', async () => {
  const runs = join(harness.folder, 'work/runs')
  const [old, young] = [1, 2].map((attempt) => `${randomUUID()}-${attempt}.kept`)
  for (const name of [old, young]) await mkdir(join(runs, name ?? '', 'w/left'), { recursive: true })
  const then = new Date(Date.now() - 61_000)
  await utimes(join(runs, old ?? ''), then, then)
  await sweep()
  expect(await readdir(runs)).toEqual([young])
})

test('The home of a workspace is removed with its folder, also after an interrupted removal', async () => {
  const homes = new Homes(join(harness.folder, 'homes'), 'workspace')
  homes.prepare(undefined)
  const runIds = await runsIn('housed.test')
  await pruneRuns(runIds)
  // Like a process that dies after it has renamed both.
  const interrupted = folderOf('~removed-by-another-process')
  await mkdir(interrupted)
  for (const folder of [interrupted, folderOf('housed.test'), folderOf('kept.test')])
    await mkdir(join(homes.of(folder), '.cache'), { recursive: true })
  await sweep({}, { executor: { folder: executor.folder, homes } })
  expect(await folders()).not.toContain('housed.test')
  await expect(stat(interrupted)).rejects.toThrow('ENOENT')
  expect(await readdir(join(harness.folder, 'homes/workspaces'))).toEqual(['kept.test'])
})

test('An old folder is removed when no recent run used it', async () => {
  const [old = 0] = await runsIn('old.test')
  await runsIn('young.test')
  await mkdir(folderOf('unknown'), { recursive: true })
  await ageRuns([old])
  await sweep({ workspaceDays: DAYS })
  expect(await folders()).toEqual(expect.arrayContaining(['old.test', 'unknown', 'young.test']))
  for (const name of ['old.test', 'unknown', 'young.test']) await makeOld(name)
  await sweep({ workspaceDays: 0 })
  expect(await folders()).toEqual(expect.arrayContaining(['old.test', 'unknown', 'young.test']))
  await sweep({ workspaceDays: DAYS })
  const left = await folders()
  expect(left).toContain('young.test')
  expect(left).not.toContain('old.test')
  expect(left).not.toContain('unknown')
})

test('A folder stays while a run of its workspace executes, and its age counts from the end of the run', async () => {
  const [runId = 0] = await harness.submit(
    [bash('wait', `mkdir {{Output}}/d; ${waitFor('{{Output}}/d/go')}`)],
    { targets: ['busy.test'] },
  )
  await until(() => stat(join(folderOf('busy.test'), 'd')).catch(() => undefined))
  await makeOld('busy.test')
  await sweep({ workspaceDays: DAYS })
  // Like another farm, whose database does not know the run.
  const all: SweepOptions['store'] = {
    liveAttempts: harness.runStore.liveAttempts,
    removableWorkspaces: async (asked) => asked.map(({ workspace }) => workspace),
  }
  await sweep({ workspaceDays: DAYS }, { store: all })
  await harness.makeFile('busy.test', 'd/go')
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  await executor.drain(TEST_MS)
  expect(Date.now() - (await stat(folderOf('busy.test'))).mtimeMs).toBeLessThan(DAY_MS)
})

test('A folder stays when a run used it after the query', async () => {
  await pruneRuns(await runsIn('again.test'))
  const asksFirst: SweepOptions['store'] = {
    liveAttempts: harness.runStore.liveAttempts,
    async removableWorkspaces(asked, days) {
      const removable = await harness.runStore.removableWorkspaces(asked, days)
      if (removable.length > 0) await runsIn('again.test')
      return removable
    },
  }
  await sweep({}, { store: asksFirst })
  expect(await readdir(join(folderOf('again.test'), 'd'))).toEqual(['found.txt'])
})

test('A removal gives up when a run of any program uses the workspace', async () => {
  const base = join(harness.folder, 'uses')
  const [one, other] = [new WorkspaceUses(base), new WorkspaceUses(base)]
  const end = await one.begin('/workspaces/w', RUN, NEVER)
  expect(other.tryRemoval('w', () => true)).toBe(false)
  expect(other.tryRemoval('another', () => true)).toBe(true)
  end()
})

test('A run waits while the folder of its workspace is being removed', async () => {
  const base = join(harness.folder, 'removal')
  const uses = new WorkspaceUses(base)
  const marks = join(base, 'workspace-uses')
  const end = await uses.begin('/workspaces/w', RUN, NEVER)
  const [mark = ''] = await readdir(marks)
  await mkdir(join(base, 'workspace-removals'))
  const removal = join(base, 'workspace-removals', mark.replace(`.1.${RUN}.run`, '.9..removal'))
  await rename(join(marks, mark), removal)
  end()
  let hasBegun = false
  const begin = uses.begin('/workspaces/w', RUN, NEVER).then((release) => {
    hasBegun = true
    return release
  })
  const elsewhere = await uses.begin('/workspaces/other', RUN, NEVER)
  expect(hasBegun).toBe(false)
  elsewhere()
  await rm(removal)
  ;(await begin)()
  expect(await readdir(marks)).toEqual([])
})

test('Other runs share a workspace: a lost attempt of the run does not, nor does a process that died', async () => {
  const base = join(harness.folder, 'shared')
  const uses = new WorkspaceUses(base)
  const isShared = () => uses.isShared('/workspaces/w', RUN)
  const module = join(import.meta.dirname, '../../src/workspaces/workspace-uses.ts')
  const script = `import { WorkspaceUses } from ${JSON.stringify(module)}
    await new WorkspaceUses(${JSON.stringify(base)}).begin('/workspaces/w', 'other', new AbortController().signal)
    console.log('begun')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script])
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  expect(isShared()).toBe(true)
  child.kill('SIGKILL')
  await ended
  expect(isShared()).toBe(false)
  // Of a container that this process cannot see.
  const [mark = ''] = await readdir(join(base, 'workspace-uses'))
  const hidden = mark.replace(/-[0-9a-f]{12}-/, '-another-')
  await writeFile(join(base, 'workspace-uses', hidden), '')
  expect(isShared()).toBe(true)
  await rename(
    join(base, 'workspace-uses', hidden),
    join(base, 'workspace-uses', hidden.replace('.other.', `.${RUN}.`)),
  )
  expect(isShared()).toBe(false)
})

test('The mark of a process that cannot be seen keeps a folder for a day and is then removed', async () => {
  const base = join(harness.folder, 'dead')
  const uses = new WorkspaceUses(base)
  ;(await uses.begin('/workspaces/w', RUN, NEVER))()
  const mark = join(base, 'workspace-uses/0123.999999999-1-x-y.1.run')
  await writeFile(mark, '')
  uses.sweep()
  expect(await readdir(join(base, 'workspace-uses'))).toHaveLength(1)
  const then = new Date(Date.now() - 2 * DAY_MS)
  await utimes(mark, then, then)
  uses.sweep()
  expect(await readdir(join(base, 'workspace-uses'))).toEqual([])
})

test('The mark of a live process is renewed for programs that cannot see the process, and a deleted folder of marks is made again', async () => {
  const base = join(harness.folder, 'renewed')
  const uses = new WorkspaceUses(base)
  ;(await uses.begin('/workspaces/w', RUN, NEVER))()
  await rm(join(base, 'workspace-uses'), { recursive: true })
  const end = await uses.begin('/workspaces/w', RUN, NEVER)
  const [mark = ''] = await readdir(join(base, 'workspace-uses'))
  const path = join(base, 'workspace-uses', mark)
  const then = new Date(Date.now() - 2 * DAY_MS)
  await utimes(path, then, then)
  new WorkspaceUses(base).sweep()
  expect(Date.now() - (await stat(path)).mtimeMs).toBeLessThan(DAY_MS)
  end()
})
