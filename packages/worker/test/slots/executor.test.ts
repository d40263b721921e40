import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, jest, test } from '@jest/globals'
import type { RunStore } from '@scanfarm/contracts'
import type { Step } from '@scanfarm/language'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import type { ExecutorOptions } from '../../src/slots/options.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash, isAlive, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(openHarness)

/** The store, which notes each call. */
const counting = (store: RunStore, calls: string[]): RunStore =>
  new Proxy(store, {
    get(target, name: keyof RunStore) {
      calls.push(name)
      return target[name]
    },
  })

const contentOf = async (key: string): Promise<string | undefined> => {
  const found = await harness.artifacts.get(key)
  return found && text(found.body)
}
const pidsIn = async (folder: string, name: string): Promise<number[]> => {
  const content = await readFile(join(folder, name), 'utf8').catch(() => '')
  return content.trim().split(/\s+/).filter(Boolean).map(Number)
}
const workspace = (target: string): string => join(harness.folder, 'work/workspaces', target)

const HOUR_MS = 3_600_000

describe('A run', () => {
  test('is executed and recorded step by step, with exact counters', async () => {
    await using _executor = harness.executor()
    const [runId = 0] = await harness.submit([
      bash('first', 'echo to-out; echo to-err >&2', { exports: { kept: 'value' } }),
      bash('second', 'echo {{kept}} {{Target}}'),
      bash('never', 'exit 1', { pre_condition: 'false' }),
    ])
    const run = await harness.ended(runId)
    expect(run).toMatchObject({ status: 'completed', total_steps: 3, completed_steps: 3, error_message: '' })
    const steps = await harness.steps(runId)
    expect(steps.map((step) => [step.step_name, step.status, step.output])).toEqual([
      ['first', 'completed', 'to-out\nto-err\n'],
      ['second', 'completed', 'value example.test\n'],
      ['never', 'skipped', ''],
    ])
  })

  test('that fails records its error, and its later steps have rows too', async () => {
    await using _executor = harness.executor()
    const [runId = 0] = await harness.submit([bash('good', 'true'), bash('bad', 'echo oops; exit 3')])
    const run = await harness.ended(runId)
    expect(run).toMatchObject({ status: 'failed', error_message: expect.stringContaining('code 3') })
    const [, bad] = await harness.steps(runId)
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
    await using executor = harness.executor({ slots: 1, onRunEnded })
    const step = bash('bad', 'exit 3', { on_error: [{ action: 'continue' }] })
    const [clean = 0] = await harness.submit([bash('good', 'true')])
    const [partial = 0] = await harness.submit([bash('good', 'true'), step])
    const [nothing = 0] = await harness.submit([step])
    const [cancelled = 0] = await harness.submit([bash('good', 'true'), bash('long', 'sleep 60')])
    expect(await harness.ended(clean)).toMatchObject({ status: 'completed', outcome: 'clean' })
    expect(await harness.ended(partial)).toMatchObject({
      status: 'completed',
      outcome: 'partial',
      failed_steps: 1,
      outcome_reasons: ['step bad failed: command exited with code 3'],
    })
    expect(await harness.ended(nothing)).toMatchObject({ status: 'completed', outcome: 'nothing_done' })
    await harness.until(cancelled, ({ completed_steps }) => completed_steps === 1)
    await harness.store.runs.requestCancel(String(cancelled))
    executor.checkCancels([cancelled])
    expect(await harness.cancelled(cancelled)).toMatchObject({ status: 'cancelled', outcome: 'partial' })
    await executor.drain(HOUR_MS)
    // The next run of the slot can end before the outcome of the one before it is passed on.
    expect(new Set(outcomes)).toEqual(
      new Set([
        ['completed', 'clean'],
        ['completed', 'partial'],
        ['completed', 'nothing_done'],
        ['cancelled', 'partial'],
      ]),
    )
    expect(outcomes).toHaveLength(4)
  })

  test('gets an environment of its own, without variables of this process', async () => {
    process.env['SCANFARM_TEST_SECRET'] = 'hidden'
    await using _executor = harness.executor()
    const [runId = 0] = await harness.submit([bash('env', 'env | sort')], { targets: ['env.test'] })
    const run = await harness.ended(runId)
    const [step] = await harness.steps(runId)
    expect(step?.output).not.toContain('hidden')
    expect(step?.output).toContain('LANG=C.UTF-8\n')
    expect(step?.output).toContain('SCANFARM_TARGET=env.test\n')
    expect(step?.output).toContain(`SCANFARM_RUN_UUID=${run.run_uuid}\n`)
    expect(step?.output).toContain(`HOME=${join(harness.folder, 'work/runs', `${run.run_uuid}-1`)}\n`)
    delete process.env['SCANFARM_TEST_SECRET']
  })

  test('keeps its workspace and removes the folder of the attempt', async () => {
    await using executor = harness.executor()
    const [runId = 0] = await harness.submit(
      [bash('write', 'echo kept > {{Output}}/kept.txt; echo gone > "$HOME/gone"')],
      { targets: ['files.test'] },
    )
    await harness.ended(runId)
    await executor.drain(HOUR_MS)
    expect(await readFile(join(workspace('files.test'), 'kept.txt'), 'utf8')).toBe('kept\n')
    expect(await readdir(join(harness.folder, 'work/runs'))).toEqual([])
  })

  test('that ends at once needs one call of the store', async () => {
    const calls: string[] = []
    const store = counting(harness.runStore, calls)
    // The run ends before the first flush, even on a slow machine.
    await using executor = harness.executor({ store, times: { flushMs: HOUR_MS } })
    const [runId = 0] = await harness.submit([bash('noop', 'true')])
    await harness.ended(runId)
    await executor.drain(HOUR_MS)
    expect(calls.filter((call) => call === 'record' || call === 'finish')).toEqual(['finish'])
    expect(await harness.steps(runId)).toMatchObject([{ status: 'completed' }])
  })

  test('records counters, pid and output while it executes', async () => {
    await using _executor = harness.executor()
    const [runId = 0] = await harness.submit([bash('one', 'true'), bash('two', 'echo begun; sleep 60')])
    const run = await harness.until(runId, ({ completed_steps }) => completed_steps === 1)
    expect(run).toMatchObject({ status: 'running', total_steps: 2 })
    const steps = await until(async () => {
      const found = await harness.steps(runId)
      return found[1]?.output ? found : undefined
    })
    expect(steps).toMatchObject([{ status: 'completed' }, { status: 'running', output: 'begun\n' }])
    const [item] = (await harness.store.runs.list({}, { offset: 0, limit: 1 })).data
    expect(await isAlive(item?.current_pid ?? 0)).toBe(true)
    await harness.cancelled(runId)
  })
})

describe('Files and output of a run', () => {
  test('Reports are artifacts that can be read from the artifact store', async () => {
    await using _executor = harness.executor()
    const [runId = 0] = await harness.submit(
      {
        kind: 'module',
        steps: [bash('write', `printf 'a\nb\n' > {{Output}}/ports.txt`)],
        reports: [{ name: 'ports', path: '{{Output}}/ports.txt', type: 'text', description: 'open ports' }],
      },
      { targets: ['report.test'] },
    )
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
    const [artifact] = (await harness.store.runs.artifacts(String(runId)))?.data ?? []
    expect(artifact).toMatchObject({
      name: 'ports',
      artifact_type: 'report',
      content_type: 'txt',
      size_bytes: 4,
      line_count: 2,
      description: 'open ports',
      workspace: 'report.test',
    })
    const found = await harness.store.runs.artifact(String(runId), artifact?.id ?? '')
    expect(await contentOf(found?.store_key ?? '')).toBe('a\nb\n')
  })
})

describe('A cancel', () => {
  const forest =
    'echo $$ > {{Output}}/pids; (setsid sleep 300 & echo $! >> {{Output}}/pids; wait) & trap "" TERM; wait; sleep 300'

  const spawned = (target: string): Promise<number[]> =>
    until(async () => {
      const pids = await pidsIn(workspace(target), 'pids')
      return pids.length === 2 ? pids : undefined
    })
  const allDead = async (pids: readonly number[]): Promise<boolean> =>
    (await Promise.all(pids.map(isAlive))).every((alive) => !alive)

  test('by signal kills the process tree before the next heartbeat and records the killed processes', async () => {
    const times = { cancelPollMs: HOUR_MS }
    await using executor = harness.executor({ graceMs: 500, leaseMs: 3 * HOUR_MS, times })
    const [runId = 0] = await harness.submit([bash('stubborn', forest), bash('later', 'true')], {
      targets: ['signal.test'],
    })
    const pids = await spawned('signal.test')
    await harness.store.runs.requestCancel(String(runId))
    executor.checkCancels([runId])
    const run = await harness.ended(runId)
    expect(await allDead(pids)).toBe(true)
    expect(run).toMatchObject({ status: 'cancelled' })
    expect(run.killed_pids).toEqual(expect.arrayContaining([pids[0]]))
    expect((await harness.steps(runId))[0]).toMatchObject({ status: 'cancelled' })
  })

  test('is found by polling when the signal was lost, long before the lease is due', async () => {
    await using _executor = harness.executor({ graceMs: 100, leaseMs: 3 * HOUR_MS })
    const [runId = 0] = await harness.submit([bash('slow', forest)], { targets: ['poll.test'] })
    const pids = await spawned('poll.test')
    await harness.store.runs.requestCancel(String(runId))
    expect(await harness.ended(runId)).toMatchObject({ status: 'cancelled' })
    expect(await allDead(pids)).toBe(true)
  })

  test('that is signalled but not requested in the database does not end the run', async () => {
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    let signalled = false
    const store: typeof harness.runStore = {
      ...harness.runStore,
      heartbeat: async (...about) => {
        const wasSignalled = signalled
        const reply = await harness.runStore.heartbeat(...about)
        if (wasSignalled) resolve()
        return reply
      },
    }
    await using executor = harness.executor({
      slots: 1,
      leaseMs: 3 * HOUR_MS,
      times: { cancelPollMs: HOUR_MS },
      store,
    })
    const [runId = 0] = await harness.submit(
      [bash('wait', `touch {{Output}}/up; ${waitFor('{{Output}}/go')}`)],
      { targets: ['hint.test'] },
    )
    await until(() => readFile(join(workspace('hint.test'), 'up')).catch(() => undefined))
    signalled = true
    executor.checkCancels([runId])
    await answered
    await harness.makeFile('hint.test', 'go')
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed', attempt: 1 })
  })

  test('that is requested and signalled during the claim of its run ends the run before the next heartbeat', async () => {
    const times = { cancelPollMs: HOUR_MS }
    let signal = (_: number): void => undefined
    const store: typeof harness.runStore = {
      ...harness.runStore,
      claimLocal: async (workerId, limit) => {
        const runs = await harness.runStore.claimLocal(workerId, limit)
        for (const { runId } of runs) {
          await harness.store.runs.requestCancel(String(runId))
          signal(runId)
        }
        return runs
      },
    }
    await using executor = harness.executor({ graceMs: 100, leaseMs: 3 * HOUR_MS, times, store })
    signal = (runId) => executor.checkCancels([runId])
    const [runId = 0] = await harness.submit([bash('slow', 'sleep 300')], { targets: ['claimed.test'] })
    expect(await harness.ended(runId)).toMatchObject({ status: 'cancelled', attempt: 1 })
  })

  test('queries the database a few times a second, even with many signals', async () => {
    let beats = 0
    const store: typeof harness.runStore = {
      ...harness.runStore,
      heartbeat: async (...about) => {
        beats += 1
        return await harness.runStore.heartbeat(...about)
      },
    }
    await using executor = harness.executor({ slots: 1, store })
    const [runId = 0] = await harness.submit(
      [bash('wait', `touch {{Output}}/up; ${waitFor('{{Output}}/go')}`)],
      { targets: ['flood.test'] },
    )
    await until(() => readFile(join(workspace('flood.test'), 'up')).catch(() => undefined))
    const [begin, before] = [performance.now(), beats]
    let signals = 0
    while (beats - before < 5) {
      for (let n = 0; n < 1_000; n += 1) executor.checkCancels([runId])
      signals += 1_000
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(performance.now() - begin).toBeGreaterThan(600)
    expect(signals).toBeGreaterThan(5_000)
    await harness.makeFile('flood.test', 'go')
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  })
})

test('A run that exceeds its timeout is killed and fails with the timeout in its error', async () => {
  let pids: number[] = []
  // A busy machine may need half a second to start the command.
  for (let seconds = 0.5; pids.length === 0 && seconds < 60; seconds *= 8) {
    await using _executor = harness.executor({ defaultTimeoutMs: seconds * 1_000 })
    const target = `timeout-${seconds}.test`
    const [runId = 0] = await harness.submit(
      [bash('slow', 'echo $$ > {{Output}}/pids; sleep 60 & sleep 300')],
      { targets: [target] },
    )
    const run = await harness.ended(runId)
    pids = await pidsIn(workspace(target), 'pids')
    expect(run).toMatchObject({
      status: 'failed',
      error_message: `run timed out after ${seconds} seconds`,
      killed_pids: expect.arrayContaining(pids),
    })
  }
  expect(await Promise.all(pids.map(isAlive))).toEqual([false])
})

test('No more runs than slots execute at the same time', async () => {
  await using executor = harness.executor({ slots: 3 })
  const targets = Array.from({ length: 12 }, (_, n) => `slot-${n}.test`)
  const go = join(harness.folder, 'go')
  const runIds = await harness.submit([bash('short', waitFor(go))], { targets, job: { concurrency: 100 } })
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, executor.status.busy)), 2)
  await until(async () => (most >= 3 ? true : undefined))
  await writeFile(go, '')
  for (const runId of runIds) expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  clearInterval(watch)
  expect(most).toBe(3)
})

describe('Threads of loops', () => {
  const loop = (command: string, more: Partial<Step> = {}): Step => ({
    name: 'loop',
    type: 'foreach',
    input: '{{Output}}/items',
    variable: 'n',
    step: bash('item', command),
    ...more,
  })

  test.each([undefined, '32'])(
    'fill the free slots of the process, and outputs keep the order of the items: threads %s',
    async (threads) => {
      await using _executor = harness.executor({ slots: 3 })
      const [runId = 0] = await harness.submit(
        [
          bash('make', 'mkdir {{Output}}/running; seq 1 12 > {{Output}}/items'),
          loop(
            `cd {{Output}}; touch began-{{n}} running/{{n}}; ls running | wc -l >> widths
             until [ "$(ls | grep -c began-)" -ge 3 ]; do sleep 0.02; done
             [ {{n}} != 1 ] || ${waitFor('ended-2')}
             echo item {{n}}; touch ended-{{n}}; rm running/{{n}}`,
            { exports: { all: 'stdout' }, ...(threads !== undefined && { threads }) },
          ),
        ],
        { targets: [`threads-${threads}.test`] },
      )
      expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
      const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
      const [, step] = await harness.steps(runId)
      expect(step?.exports).toMatchObject({ all: numbers.map((number) => `item ${number}`).join('\n') })
      const widths = await readFile(join(workspace(`threads-${threads}.test`), 'widths'), 'utf8')
      expect(widths.trim().split('\n')).toHaveLength(numbers.length)
      expect(Math.max(...widths.trim().split('\n').map(Number))).toBe(3)
    },
  )

  test('leave a slot to a run that waits', async () => {
    await using _executor = harness.executor({ slots: 2 })
    const [long = 0] = await harness.submit(
      [
        bash('make', 'seq 1 10000 > {{Output}}/items'),
        loop('touch {{Output}}/began-{{n}}; sleep 0.05', { threads: '2' }),
      ],
      { targets: ['long-loop.test'] },
    )
    const files = (): Promise<string[]> => readdir(workspace('long-loop.test')).catch(() => [])
    await until(async () => (await files()).includes('began-4'))
    const [short = 0] = await harness.submit([bash('short', 'true')], { targets: ['short.test'] })
    expect(await harness.ended(short)).toMatchObject({ status: 'completed' })
    expect(await harness.run(long)).toMatchObject({ status: 'running' })
    await harness.cancelled(long)
  })
})
