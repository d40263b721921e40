import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { RunStore } from '@scanfarm/contracts'
import type { ExecutorOptions } from '../src/index.ts'
import { bash, eventually, isAlive, openBench, TEST_MS, waitFor, type Bench } from './bench.ts'

jest.setTimeout(TEST_MS)

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

/** The store itself, with a note of each call. */
const counting = (store: RunStore, calls: string[]): RunStore =>
  new Proxy(store, {
    get(target, name: keyof RunStore) {
      calls.push(name)
      return target[name]
    },
  })

const contentOf = async (key: string): Promise<string | undefined> => {
  const found = await bench.artifacts.get(key)
  return found && text(found.body)
}
const pidsIn = async (folder: string, name: string): Promise<number[]> => {
  const content = await readFile(join(folder, name), 'utf8').catch(() => '')
  return content.trim().split(/\s+/).filter(Boolean).map(Number)
}
const workspace = (target: string): string => join(bench.folder, 'work/workspaces', target)

const HOUR_MS = 3_600_000

describe('A run', () => {
  test('is executed and recorded step by step, with exact counters', async () => {
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit([
      bash('first', 'echo to-out; echo to-err >&2', { exports: { kept: 'value' } }),
      bash('second', 'echo {{kept}} {{Target}}'),
      bash('never', 'exit 1', { pre_condition: 'false' }),
    ])
    const run = await bench.ended(runId)
    expect(run).toMatchObject({ status: 'completed', total_steps: 3, completed_steps: 3, error_message: '' })
    const steps = await bench.steps(runId)
    expect(steps.map((step) => [step.step_name, step.status, step.output])).toEqual([
      ['first', 'completed', 'to-out\nto-err\n'],
      ['second', 'completed', 'value example.test\n'],
      ['never', 'skipped', ''],
    ])
  })

  test('that fails says why, and its later steps have rows too', async () => {
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit([bash('good', 'true'), bash('bad', 'echo oops; exit 3')])
    const run = await bench.ended(runId)
    expect(run).toMatchObject({ status: 'failed', error_message: expect.stringContaining('code 3') })
    const [, bad] = await bench.steps(runId)
    expect(bad).toMatchObject({
      status: 'failed',
      output: 'oops\n',
      error_message: expect.stringContaining('3'),
    })
  })

  test('passes its outcome to `onRunEnded`', async () => {
    const outcomes: unknown[] = []
    const onRunEnded: ExecutorOptions['onRunEnded'] = (ending, _seconds, outcome) =>
      void outcomes.push([ending, outcome])
    await using executor = bench.executor({ slots: 1, onRunEnded })
    const step = bash('bad', 'exit 3', { on_error: [{ action: 'continue' }] })
    const [clean = 0] = await bench.submit([bash('good', 'true')])
    const [partial = 0] = await bench.submit([bash('good', 'true'), step])
    const [nothing = 0] = await bench.submit([step])
    const [cancelled = 0] = await bench.submit([bash('good', 'true'), bash('long', 'sleep 60')])
    expect(await bench.ended(clean)).toMatchObject({ status: 'completed', outcome: 'clean' })
    expect(await bench.ended(partial)).toMatchObject({
      status: 'completed',
      outcome: 'partial',
      failed_steps: 1,
      outcome_reasons: ['step bad failed: command exited with code 3'],
    })
    expect(await bench.ended(nothing)).toMatchObject({ status: 'completed', outcome: 'nothing_done' })
    await bench.until(cancelled, ({ completed_steps }) => completed_steps === 1)
    await bench.store.runs.requestCancel(String(cancelled))
    executor.checkCancels([cancelled])
    expect(await bench.cancelled(cancelled)).toMatchObject({ status: 'cancelled', outcome: 'partial' })
    await executor.drain(HOUR_MS)
    expect(outcomes).toEqual([
      ['completed', 'clean'],
      ['completed', 'partial'],
      ['completed', 'nothing_done'],
      ['cancelled', 'partial'],
    ])
  })

  test('sees an environment that was built for it and nothing of this process', async () => {
    process.env['SCANFARM_TEST_SECRET'] = 'hidden'
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit([bash('env', 'env | sort')], { targets: ['env.test'] })
    const run = await bench.ended(runId)
    const [step] = await bench.steps(runId)
    expect(step?.output).not.toContain('hidden')
    expect(step?.output).toContain('LANG=C.UTF-8\n')
    expect(step?.output).toContain('SCANFARM_TARGET=env.test\n')
    expect(step?.output).toContain(`SCANFARM_RUN_UUID=${run.run_uuid}\n`)
    expect(step?.output).toContain(`HOME=${join(bench.folder, 'work/runs', `${run.run_uuid}-1`)}\n`)
    delete process.env['SCANFARM_TEST_SECRET']
  })

  test('leaves its workspace and takes the folder of the attempt with it', async () => {
    await using executor = bench.executor()
    const [runId = 0] = await bench.submit(
      [bash('write', 'echo kept > {{Output}}/kept.txt; echo gone > "$HOME/gone"')],
      { targets: ['files.test'] },
    )
    await bench.ended(runId)
    await executor.drain(HOUR_MS)
    expect(await readFile(join(workspace('files.test'), 'kept.txt'), 'utf8')).toBe('kept\n')
    expect(await readdir(join(bench.folder, 'work/runs'))).toEqual([])
  })

  test('that ends at once costs one statement of the store', async () => {
    const calls: string[] = []
    const store = counting(bench.runStore, calls)
    // It ends before the first flush, however slow the machine.
    await using executor = bench.executor({ store, times: { flushMs: HOUR_MS } })
    const [runId = 0] = await bench.submit([bash('noop', 'true')])
    await bench.ended(runId)
    await executor.drain(HOUR_MS)
    expect(calls.filter((call) => call === 'record' || call === 'finish')).toEqual(['finish'])
    expect(await bench.steps(runId)).toMatchObject([{ status: 'completed' }])
  })

  test('shows where it is while it goes on: counters, pid, output so far', async () => {
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit([bash('one', 'true'), bash('two', 'echo begun; sleep 60')])
    const run = await bench.until(runId, ({ completed_steps }) => completed_steps === 1)
    expect(run).toMatchObject({ status: 'running', total_steps: 2 })
    const steps = await eventually(async () => {
      const found = await bench.steps(runId)
      return found[1]?.output ? found : undefined
    })
    expect(steps).toMatchObject([{ status: 'completed' }, { status: 'running', output: 'begun\n' }])
    const [item] = (await bench.store.runs.list({}, { offset: 0, limit: 1 })).data
    expect(await isAlive(item?.current_pid ?? 0)).toBe(true)
    await bench.cancelled(runId)
  })
})

describe('What a run leaves', () => {
  test('Reports are artifacts that can be read from the store', async () => {
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit(
      {
        kind: 'module',
        steps: [bash('write', `printf 'a\nb\n' > {{Output}}/ports.txt`)],
        reports: [{ name: 'ports', path: '{{Output}}/ports.txt', type: 'text', description: 'open ports' }],
      },
      { targets: ['report.test'] },
    )
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
    const [artifact] = (await bench.store.runs.artifacts(String(runId)))?.data ?? []
    expect(artifact).toMatchObject({
      name: 'ports',
      artifact_type: 'report',
      content_type: 'txt',
      size_bytes: 4,
      line_count: 2,
      description: 'open ports',
      workspace: 'report.test',
    })
    const found = await bench.store.runs.artifact(String(runId), artifact?.id ?? '')
    expect(await contentOf(found?.store_key ?? '')).toBe('a\nb\n')
  })

  test('A report that is a link out of the run is refused, and the log of the run says so', async () => {
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit(
      {
        kind: 'module',
        steps: [bash('link', 'ln -s /etc/passwd {{Output}}/passwd.txt')],
        reports: [{ name: 'stolen', path: '{{Output}}/passwd.txt', type: 'text' }],
      },
      { targets: ['link.test'] },
    )
    await bench.ended(runId)
    const artifacts = (await bench.store.runs.artifacts(String(runId)))?.data ?? []
    // The state is filed before the log; whether one batch writes both is a matter of time.
    const byName = artifacts.toSorted((one, other) => one.name.localeCompare(other.name))
    expect(byName.map(({ name, artifact_type }) => [name, artifact_type])).toEqual([
      ['execution log', 'state_file'],
      ['run state', 'state_file'],
    ])
    const log = await bench.store.runs.artifact(String(runId), byName[0]?.id ?? '')
    expect(await contentOf(log?.store_key ?? '')).toContain(
      "report 'stolen': passwd.txt is a link out of the run's folder",
    )
  })

  test('Long output has its tail in the row and the whole, up to a cap, in the store', async () => {
    await using _executor = bench.executor({ limits: { stepLogBytes: 1_000_000 } })
    const [runId = 0] = await bench.submit([bash('loud', 'seq 1 300000')])
    await bench.ended(runId)
    const [step] = await bench.steps(runId)
    expect(step?.output.length).toBeLessThanOrEqual(16 * 1024)
    expect(step?.output.endsWith('299999\n300000\n')).toBe(true)
    const kept = await bench.store.runs.stepLog(String(runId), step?.id ?? '')
    const log = await contentOf(kept?.storeKey ?? '')
    expect(log?.startsWith('1\n2\n3\n')).toBe(true)
    expect(log).toMatch(/\[988895 more bytes were dropped: the log of a step keeps 1000000 bytes\]\n$/)
  })

  test('Output that is no text is stored as far as Postgres takes it', async () => {
    await using _executor = bench.executor()
    const [runId = 0] = await bench.submit([bash('binary', `printf 'a\\000b\\377c'`)])
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
    expect(await bench.steps(runId)).toMatchObject([{ output: 'a\uFFFDb\uFFFDc' }])
  })
})

describe('A cancel', () => {
  const forest =
    'echo $$ > {{Output}}/pids; (setsid sleep 300 & echo $! >> {{Output}}/pids; wait) & trap "" TERM; wait; sleep 300'

  const spawned = (target: string): Promise<number[]> =>
    eventually(async () => {
      const pids = await pidsIn(workspace(target), 'pids')
      return pids.length === 2 ? pids : undefined
    })
  const allDead = async (pids: readonly number[]): Promise<boolean> =>
    (await Promise.all(pids.map(isAlive))).every((alive) => !alive)

  test('by signal kills the whole tree before any heartbeat, and tells which processes', async () => {
    const times = { cancelPollMs: HOUR_MS }
    await using executor = bench.executor({ graceMs: 500, leaseMs: 3 * HOUR_MS, times })
    const [runId = 0] = await bench.submit([bash('stubborn', forest), bash('later', 'true')], {
      targets: ['signal.test'],
    })
    const pids = await spawned('signal.test')
    await bench.store.runs.requestCancel(String(runId))
    executor.checkCancels([runId])
    const run = await bench.ended(runId)
    expect(await allDead(pids)).toBe(true)
    expect(run).toMatchObject({ status: 'cancelled' })
    expect(run.killed_pids).toEqual(expect.arrayContaining([pids[0]]))
    expect((await bench.steps(runId))[0]).toMatchObject({ status: 'cancelled' })
  })

  test('is found by the heartbeat where the signal was lost, long before the lease is renewed', async () => {
    await using _executor = bench.executor({ graceMs: 100, leaseMs: 3 * HOUR_MS })
    const [runId = 0] = await bench.submit([bash('slow', forest)], { targets: ['poll.test'] })
    const pids = await spawned('poll.test')
    await bench.store.runs.requestCancel(String(runId))
    expect(await bench.ended(runId)).toMatchObject({ status: 'cancelled' })
    expect(await allDead(pids)).toBe(true)
  })

  test('that is only signalled, and not requested in the database, ends nothing', async () => {
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    let signalled = false
    const store: typeof bench.runStore = {
      ...bench.runStore,
      heartbeat: async (...about) => {
        const wasSignalled = signalled
        const reply = await bench.runStore.heartbeat(...about)
        if (wasSignalled) resolve()
        return reply
      },
    }
    await using executor = bench.executor({
      slots: 1,
      leaseMs: 3 * HOUR_MS,
      times: { cancelPollMs: HOUR_MS },
      store,
    })
    const [runId = 0] = await bench.submit(
      [bash('wait', `touch {{Output}}/up; ${waitFor('{{Output}}/go')}`)],
      { targets: ['hint.test'] },
    )
    await eventually(() => readFile(join(workspace('hint.test'), 'up')).catch(() => undefined))
    signalled = true
    executor.checkCancels([runId])
    await answered
    await bench.makeFile('hint.test', 'go')
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed', attempt: 1 })
  })

  test('that is requested and signalled while its run is being claimed ends it before any heartbeat', async () => {
    const times = { cancelPollMs: HOUR_MS }
    let signal = (_: number): void => undefined
    const store: typeof bench.runStore = {
      ...bench.runStore,
      claimLocal: async (workerId, limit) => {
        const runs = await bench.runStore.claimLocal(workerId, limit)
        for (const { runId } of runs) {
          await bench.store.runs.requestCancel(String(runId))
          signal(runId)
        }
        return runs
      },
    }
    await using executor = bench.executor({ graceMs: 100, leaseMs: 3 * HOUR_MS, times, store })
    signal = (runId) => executor.checkCancels([runId])
    const [runId = 0] = await bench.submit([bash('slow', 'sleep 300')], { targets: ['claimed.test'] })
    expect(await bench.ended(runId)).toMatchObject({ status: 'cancelled', attempt: 1 })
  })

  test('asks the database a few times a second, however many signals come', async () => {
    let beats = 0
    const store: typeof bench.runStore = {
      ...bench.runStore,
      heartbeat: async (...about) => {
        beats += 1
        return await bench.runStore.heartbeat(...about)
      },
    }
    await using executor = bench.executor({ slots: 1, store })
    const [runId = 0] = await bench.submit(
      [bash('wait', `touch {{Output}}/up; ${waitFor('{{Output}}/go')}`)],
      { targets: ['flood.test'] },
    )
    await eventually(() => readFile(join(workspace('flood.test'), 'up')).catch(() => undefined))
    const [begin, before] = [performance.now(), beats]
    let signals = 0
    while (beats - before < 5) {
      for (let n = 0; n < 1_000; n += 1) executor.checkCancels([runId])
      signals += 1_000
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(performance.now() - begin).toBeGreaterThan(600)
    expect(signals).toBeGreaterThan(5_000)
    await bench.makeFile('flood.test', 'go')
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
  })
})

test('A run that lasts longer than it may is killed and fails, saying so', async () => {
  let pids: number[] = []
  // A busy machine may not have begun its command before half a second is over.
  for (let seconds = 0.5; pids.length === 0 && seconds < 60; seconds *= 8) {
    await using _executor = bench.executor({ defaultTimeoutMs: seconds * 1_000 })
    const target = `timeout-${seconds}.test`
    const [runId = 0] = await bench.submit(
      [bash('slow', 'echo $$ > {{Output}}/pids; sleep 60 & sleep 300')],
      {
        targets: [target],
      },
    )
    const run = await bench.ended(runId)
    pids = await pidsIn(workspace(target), 'pids')
    expect(run).toMatchObject({
      status: 'failed',
      error_message: `run timed out after ${seconds} seconds`,
      killed_pids: expect.arrayContaining(pids),
    })
  }
  expect(await Promise.all(pids.map(isAlive))).toEqual([false])
})

test('No more runs than slots are under way at once', async () => {
  await using executor = bench.executor({ slots: 3 })
  const targets = Array.from({ length: 12 }, (_, n) => `slot-${n}.test`)
  const go = join(bench.folder, 'go')
  const runIds = await bench.submit([bash('short', waitFor(go))], { targets, job: { concurrency: 100 } })
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, executor.status.busy)), 2)
  await eventually(async () => (most >= 3 ? true : undefined))
  await writeFile(go, '')
  for (const runId of runIds) expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
  clearInterval(watch)
  expect(most).toBe(3)
})
