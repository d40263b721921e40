import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import { asSuperuser } from '@scanfarm/store/testing'
import { createSweep, type Executor, type SweepOptions } from '../src/index.ts'
import { Homes } from '../src/homes.ts'
import { WorkspaceUses } from '../src/workspaces/workspace-uses.ts'
import { bash, eventually, openBench, TEST_MS, waitFor, type Bench } from './bench.ts'
import { silent } from './silent.ts'

jest.setTimeout(TEST_MS)

const DAYS = 30
const DAY_MS = 86_400_000
const NEVER = new AbortController().signal

let bench: Bench
let executor: Executor
beforeAll(async () => {
  bench = await openBench()
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})
beforeEach(() => {
  executor = bench.executor()
})
afterEach(async () => {
  await executor[Symbol.asyncDispose]()
})

const folders = async (): Promise<string[]> => (await readdir(join(bench.folder, 'work/workspaces'))).sort()
const folderOf = (workspace: string): string => join(bench.folder, 'work/workspaces', workspace)

/** Runs that have ended, in these workspaces. */
const runsIn = async (...workspaces: string[]): Promise<number[]> => {
  const runIds = await bench.submit(
    [bash('work', 'mkdir -p {{Output}}/d; seq 100 > {{Output}}/d/found.txt')],
    {
      targets: workspaces,
    },
  )
  for (const runId of runIds) expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
  await executor.drain(TEST_MS)
  executor = bench.executor()
  return runIds
}

const ageRuns = (runIds: readonly number[]) =>
  asSuperuser(
    (client) =>
      client.query(
        `update runs set created_at = created_at - interval '31 days', completed_at = completed_at - interval '31 days'
         where id = any($1)`,
        [runIds],
      ),
    bench.url,
  )

const pruneRuns = async (runIds: readonly number[]): Promise<void> => {
  await ageRuns(runIds)
  expect(await bench.store.retention.removeRuns(runIds, DAYS)).toBe(runIds.length)
}

const makeOld = async (workspace: string): Promise<void> => {
  const then = new Date(Date.now() - (DAYS + 1) * DAY_MS)
  await utimes(folderOf(workspace), then, then)
}

const sweep = (retention: Partial<SweepOptions['retention']> = {}, changes: Partial<SweepOptions> = {}) =>
  createSweep({
    store: bench.runStore,
    runners: { sweepContainers: async () => 0 },
    executor,
    retention: { workspaces: true, workspaceDays: 0, ...retention },
    log: silent,
    ...changes,
  })()

test('The folder of a workspace is removed when its last run was, unless that is switched off', async () => {
  const gone = await runsIn('pruned.test', 'shared.test')
  const [young = 0] = await runsIn('shared.test')
  await mkdir(folderOf('of-another-farm'))
  await pruneRuns(gone)
  await sweep({ workspaces: false })
  expect(await folders()).toContain('pruned.test')
  await sweep()
  expect(await folders()).toEqual(['of-another-farm', 'shared.test'])
  await pruneRuns([young])
  await sweep()
  expect(await folders()).toEqual(['of-another-farm'])
  expect(await readdir(join(bench.folder, 'work/workspace-uses'))).toEqual([])
})

test('The home of a workspace goes with its folder, also after a removal that was interrupted', async () => {
  const homes = new Homes(join(bench.folder, 'homes'), 'workspace')
  homes.prepare(undefined)
  const runIds = await runsIn('housed.test')
  await pruneRuns(runIds)
  // As a process leaves them that dies after it has renamed both.
  const interrupted = folderOf('~removed-by-another-process')
  await mkdir(interrupted)
  for (const folder of [interrupted, folderOf('housed.test'), folderOf('kept.test')])
    await mkdir(join(homes.of(folder), '.cache'), { recursive: true })
  await sweep({}, { executor: { folder: executor.folder, homes } })
  expect(await folders()).not.toContain('housed.test')
  await expect(stat(interrupted)).rejects.toThrow('ENOENT')
  expect(await readdir(join(bench.folder, 'homes/workspaces'))).toEqual(['kept.test'])
})

test('An old folder is removed when no run of late used it', async () => {
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

test('A folder stays as long as a run of its workspace is under way, and its age counts from the end', async () => {
  const [runId = 0] = await bench.submit(
    [bash('wait', `mkdir {{Output}}/d; ${waitFor('{{Output}}/d/go')}`)],
    { targets: ['busy.test'] },
  )
  await eventually(() => stat(join(folderOf('busy.test'), 'd')).catch(() => undefined))
  await makeOld('busy.test')
  await sweep({ workspaceDays: DAYS })
  // As another farm would see it, whose database knows nothing of the run.
  const all: SweepOptions['store'] = {
    liveAttempts: bench.runStore.liveAttempts,
    removableWorkspaces: async (asked) => asked.map(({ workspace }) => workspace),
  }
  await sweep({ workspaceDays: DAYS }, { store: all })
  await bench.makeFile('busy.test', 'd/go')
  expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
  await executor.drain(TEST_MS)
  expect(Date.now() - (await stat(folderOf('busy.test'))).mtimeMs).toBeLessThan(DAY_MS)
})

test('A folder stays that a run has used after the database was asked', async () => {
  await pruneRuns(await runsIn('again.test'))
  const asksFirst: SweepOptions['store'] = {
    liveAttempts: bench.runStore.liveAttempts,
    async removableWorkspaces(asked, days) {
      const removable = await bench.runStore.removableWorkspaces(asked, days)
      if (removable.length > 0) await runsIn('again.test')
      return removable
    },
  }
  await sweep({}, { store: asksFirst })
  expect(await readdir(join(folderOf('again.test'), 'd'))).toEqual(['found.txt'])
})

test('A removal gives way to a run of its workspace, of any program', async () => {
  const base = join(bench.folder, 'uses')
  const [one, other] = [new WorkspaceUses(base), new WorkspaceUses(base)]
  const end = await one.begin('/workspaces/w', NEVER)
  expect(other.tryRemoval('w', () => true)).toBe(false)
  expect(other.tryRemoval('another', () => true)).toBe(true)
  end()
})

test('A run waits while the folder of its workspace is taken away', async () => {
  const base = join(bench.folder, 'removal')
  const uses = new WorkspaceUses(base)
  const marks = join(base, 'workspace-uses')
  const end = await uses.begin('/workspaces/w', NEVER)
  const [mark = ''] = await readdir(marks)
  const removal = join(marks, mark.replace('.1.run', '.9.removal'))
  await rename(join(marks, mark), removal)
  end()
  let hasBegun = false
  const begin = uses.begin('/workspaces/w', NEVER).then((release) => {
    hasBegun = true
    return release
  })
  const elsewhere = await uses.begin('/workspaces/other', NEVER)
  expect(hasBegun).toBe(false)
  elsewhere()
  await rm(removal)
  ;(await begin)()
  expect(await readdir(marks)).toEqual([])
})

test('A mark of a process that has died keeps a folder for a day, and is then removed', async () => {
  const base = join(bench.folder, 'dead')
  const uses = new WorkspaceUses(base)
  ;(await uses.begin('/workspaces/w', NEVER))()
  const mark = join(base, 'workspace-uses/0123.999999999-1-x-y.1.run')
  await writeFile(mark, '')
  uses.sweep()
  expect(await readdir(join(base, 'workspace-uses'))).toHaveLength(1)
  const then = new Date(Date.now() - 2 * DAY_MS)
  await utimes(mark, then, then)
  uses.sweep()
  expect(await readdir(join(base, 'workspace-uses'))).toEqual([])
})

test('A mark of a live process is renewed for programs that cannot see the process, and its folder is made again', async () => {
  const base = join(bench.folder, 'renewed')
  const uses = new WorkspaceUses(base)
  ;(await uses.begin('/workspaces/w', NEVER))()
  await rm(join(base, 'workspace-uses'), { recursive: true })
  const end = await uses.begin('/workspaces/w', NEVER)
  const [mark = ''] = await readdir(join(base, 'workspace-uses'))
  const path = join(base, 'workspace-uses', mark)
  const then = new Date(Date.now() - 2 * DAY_MS)
  await utimes(path, then, then)
  new WorkspaceUses(base).sweep()
  expect(Date.now() - (await stat(path)).mtimeMs).toBeLessThan(DAY_MS)
  end()
})
