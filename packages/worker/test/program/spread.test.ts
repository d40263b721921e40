import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { RUN_LOG_NAME } from '@scanfarm/contracts'
import type { Step } from '@scanfarm/language'
import { silentLogger } from '@scanfarm/platform'
import { until } from '@scanfarm/testing'
import { startWorker } from '@scanfarm/worker'
import { openTestCluster, type TestCluster } from '../harness/workers.ts'
import { bash, freshName, gone, jobDraft, submitJob, TEST_MS, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const LEASE_MS = 3_000
const env = { SCANFARM_WORKER_LEASE_MS: String(LEASE_MS), SCANFARM_WORKER_SLOTS: '1' }

const envOf = (cluster: TestCluster, name: string, further: Readonly<Record<string, string>> = {}) => ({
  ...env,
  ...further,
  SCANFARM_WORKER_NAME: name,
  // As on another machine.
  SCANFARM_WORKER_FOLDER: join(cluster.folder, 'work', name),
})

const spawn = async (cluster: TestCluster, name: string, further?: Readonly<Record<string, string>>) =>
  await cluster.spawnWorker(envOf(cluster, name, further))

const submitted = async (cluster: TestCluster, target: string, steps: readonly Step[]): Promise<number> => {
  const draft = jobDraft({ kind: 'module', steps: [...steps] }, { runMode: 'distributed' })
  const [runId = 0] = await submitJob(cluster.store, draft, [{ target, workspace: target }])
  await cluster.dispatch()
  return runId
}

/** Sends what is in the outbox until the run has ended. */
const ended = async (cluster: TestCluster, runId: number) =>
  await until(async () => {
    await cluster.dispatch()
    const run = await cluster.run(runId)
    return run.completed_at === null ? undefined : run
  })

const countOf = async (cluster: TestCluster, query: string): Promise<number> => {
  const { rows } = await cluster.sql<{ count: number }>(`select count(*)::int as count from ${query}`)
  return rows[0]?.count ?? 0
}

test('a loop whose items other workers execute ends as the same loop on one, and their runs are not listed', async () => {
  await using cluster = await openTestCluster()
  await spawn(cluster, 'one')
  await spawn(cluster, 'two')
  const loop: Step = {
    name: 'each',
    type: 'foreach',
    input: '{{Output}}/list',
    variable: 'item',
    threads: '1',
    exports: { streaming_output: '{{Output}}/streamed', all: 'stdout' },
    on_error: [{ action: 'continue' }],
    step: bash(
      'one',
      `cd {{Output}}; echo [[item]] >> seen; cat paths; echo [[item]] > made-[[item]]; echo last [[item]] > rewritten
       mkdir -p sub/[[item]]; rm -f old-[[item]]; ln -sf {{Output}}/made-[[item]] link; test [[item]] != 5`,
    ),
  }
  const results = []
  for (const spread of [undefined, { batch: '3' }]) {
    const target = freshName()
    const runId = await submitted(cluster, target, [
      bash(
        'list',
        'cd {{Output}}; seq 1 10 > list; echo old | tee seen rewritten old-1 old-9; echo {{Output}}/list > paths',
      ),
      { ...loop, ...(spread && { spread }) },
      bash(
        'last',
        'cd {{Output}}; find . -type f ! -name "run-*" | sort | xargs grep . | sed "s#{{Output}}#OUT#"; find . -type d -o -type l | sort; readlink link',
      ),
    ])
    const run = await ended(cluster, runId)
    const steps = await cluster.steps(runId)
    results.push(
      [
        run.outcome,
        ...steps.flatMap((step) => [step.step_name, step.status, step.output, step.error_message]),
      ].map((text) => text.replaceAll(target, 'target').replaceAll('/work/two/', '/work/one/')),
    )
    if (spread === undefined) continue
    const listed = await cluster.store.runs.list({}, { offset: 0, limit: 100 })
    expect(listed.data.map(({ id }) => id)).toEqual([runId, runId - 1])
    const batches = await cluster.store.runs.list({ parent: runId }, { offset: 0, limit: 100 })
    expect(batches.data.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
    expect(
      await countOf(
        cluster,
        "event_logs where topic ~ '^run' and run_id in (select run_uuid::text from runs where batch is not null)",
      ),
    ).toBe(0)
    expect((await cluster.store.jobs.list({}, { limit: 100 })).data).toHaveLength(2)
    const [, , failing] = batches.data
    expect(steps.find(({ step_name: name }) => name === 'one')?.taken_from?.run_uuid).toBe(failing?.run_uuid)
    expect(steps.map(({ items_job_id: id }) => id)).toEqual(['', failing?.run_group_id, '', ''])
    const { run_uuid: runUuid } = run
    expect(await cluster.store.runs.find(String(failing?.id))).toMatchObject({ loop_run_uuid: runUuid })
    const events = (await cluster.store.events.list({ runId: runUuid }, { offset: 0, limit: 100 })).data
    expect(
      events
        .filter(({ topic }) => topic.startsWith('step.'))
        .map(({ data }) => JSON.parse(data) as { step_name: string })
        // A run may tell of an ended step later than its batches of theirs.
        .toSorted((one, other) => one.step_name.localeCompare(other.step_name)),
    ).toMatchObject([
      { step_name: 'each', batch_run_id: null },
      { step_name: 'last' },
      { step_name: 'list', batch_run_id: null },
      { step_name: 'one', status: 'failed', run_uuid: runUuid, attempt: 1, batch_run_id: failing?.id },
    ])
  }
  expect(results[1]).toEqual(results[0])
})

test('details that items hide are hidden when other workers execute them', async () => {
  await using cluster = await openTestCluster()
  await spawn(cluster, 'one')
  const hidden = bash('one', 'echo hidden', { suppress_details: true })
  const runId = await submitted(cluster, freshName(), [
    bash('list', 'seq 1 3 > {{Output}}/list'),
    ...[hidden, { name: 'both', type: 'parallel-steps' as const, parallel_steps: [hidden] }].map(
      (step): Step => ({
        name: 'each',
        type: 'foreach',
        input: '{{Output}}/list',
        spread: { batch: '2' },
        step,
      }),
    ),
  ])
  expect(await ended(cluster, runId)).toMatchObject({ outcome: 'clean' })
  const loops = (await cluster.steps(runId)).filter(({ step_name: name }) => name === 'each')
  expect(loops.map(({ items_job_id: job }) => job !== '')).toEqual([true, true])
  expect(loops.map(({ output }) => output)).toEqual(
    loops.map(() => '3 items: 3 completed, 0 failed, 0 skipped\n'),
  )
})

test('a batch gets the files of its run from an ended batch of the loop on the worker, as far as that left them', async () => {
  await using cluster = await openTestCluster()
  const worker = await spawn(cluster, 'one')
  const runId = await submitted(cluster, freshName(), [
    bash(
      'list',
      'cd {{Output}}; seq 1 3 > list; seq 100000 | tee big changed removed > linked; echo {{Output}} > path; chmod 750 list',
    ),
    {
      name: 'each',
      type: 'foreach',
      input: '{{Output}}/list',
      variable: 'item',
      spread: { batch: '1' },
      step: bash(
        'one',
        `cd {{Output}}; stat -c %y big; [ "$(cat path)" = {{Output}} ]; [ $(find . -type f | wc -l) = 6 ]
         wc -l < changed; wc -l < removed; stat -c '%a %u' list; [ $(stat -c %u big) = $(id -u) ]
         echo [[item]] >> changed; rm removed; mv linked other; chmod 700 list; echo [[item]] > new-[[item]]; ls | wc -l`,
      ),
    },
  ])
  expect(await ended(cluster, runId)).toMatchObject({ status: 'completed', outcome: 'clean' })
  const lines = (await cluster.steps(runId)).at(-1)?.output.trim().split('\n') ?? []
  // Also the time at which the file was written is the same.
  const [time = ''] = lines
  const same = [time, '100000', '100000', expect.stringMatching(/^750 /), '6']
  expect(lines.slice(0, 15)).toEqual([...same, ...same, ...same])
  worker.send('SIGTERM')
  await worker.ended
  expect(await readdir(join(cluster.folder, 'work/one/runs'))).toEqual([])
})

test('lines that items append follow the order of the items, also if a slot is free', async () => {
  await using cluster = await openTestCluster()
  await spawn(cluster, 'one', { SCANFARM_WORKER_SLOTS: '3' })
  const record = join(cluster.folder, 'record')
  await mkdir(record)
  const runId = await submitted(cluster, freshName(), [
    bash('list', 'seq 1 48 > {{Output}}/list'),
    {
      name: 'each',
      type: 'foreach',
      input: '{{Output}}/list',
      variable: 'item',
      spread: { enabled: true },
      // The first of two items of a batch ends when all other batches have.
      step: bash(
        'one',
        `cd ${record}; : > begun-[[item]]; if [ [[item]] = 1 ]; then
           until [ $(cat done | wc -l) -ge 46 ]; do sleep 0.05; done
           n=0; until [ -e begun-2 ] || [ $n = 20 ]; do n=$((n + 1)); sleep 0.05; done
         fi; echo [[item]] >> {{Output}}/seen; echo [[item]] >> done`,
      ),
    },
    bash('last', '[ "$(cat {{Output}}/seen)" = "$(seq 1 48)" ]'),
  ])
  expect(await ended(cluster, runId)).toMatchObject({ outcome: 'clean' })
})

/** Loops over six items in batches of two; the third item waits for a file. */
const gated = async (cluster: TestCluster, items = 6): Promise<{ record: string; steps: Step[] }> => {
  const record = join(cluster.folder, 'record')
  await mkdir(record)
  return {
    record,
    steps: [
      bash(
        'list',
        `echo list >> ${record}/done; cd {{Output}}; seq 1 ${items} > list; echo {{Output}}/list > path; printf '\\0%s' {{Output}} > binary`,
        { exports: { list: '{{Output}}/list' } },
      ),
      {
        name: 'each',
        type: 'foreach',
        input: '{{Output}}/list',
        variable: 'item',
        threads: '1',
        spread: { batch: '2' },
        step: bash(
          'one',
          `echo [[item]] >> {{Output}}/all; echo [[item]] >> ${record}/done
           if [ [[item]] = 3 ]; then echo $$ > ${record}/pid; ${waitFor(`${record}/go`)}; fi`,
        ),
      },
      bash('last', 'cd {{Output}}; cat all; tail -1 {{list}}; tail -1 $(cat path); tr -d "\\0" < binary'),
    ],
  }
}

const pidOf = async (record: string): Promise<number> =>
  Number(
    await until(async () => (await readFile(`${record}/pid`, 'utf8').catch(() => '')).trim() || undefined),
  )

test('a run whose worker is killed with a batch of its loop continues on a worker with other folders', async () => {
  await using cluster = await openTestCluster()
  const { record, steps } = await gated(cluster)
  const first = await spawn(cluster, 'one')
  const target = freshName()
  const runId = await submitted(cluster, target, steps)
  const sending = setInterval(() => void cluster.dispatch().catch(() => undefined), 200)
  using _ = { [Symbol.dispose]: () => clearInterval(sending) }
  await pidOf(record)
  await spawn(cluster, 'another')
  const completed = "runs where batch is not null and status = 'completed'"
  await until(async () => ((await countOf(cluster, completed)) === 2 ? true : undefined))
  first.send('SIGKILL')
  await first.ended
  await rm(join(cluster.folder, 'work/one'), { recursive: true })
  await writeFile(`${record}/go`, '')
  await cluster.reapUntilOneIsLost(LEASE_MS)
  expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', outcome: 'clean', attempt: 2 })
  const done = (await readFile(`${record}/done`, 'utf8')).trim().split('\n')
  expect(done.toSorted()).toEqual(['1', '2', '3', '3', '4', '5', '6', 'list'])
  // The batch of two items was split.
  expect(await countOf(cluster, completed)).toBe(4)
  expect((await cluster.steps(runId)).at(-1)?.output).toBe(
    `1\n2\n3\n4\n5\n6\n6\n6\n${join(cluster.folder, 'work/one/workspaces', target)}`,
  )
})

test('batches share the rate of their run, in fractions if need be', async () => {
  await using cluster = await openTestCluster()
  await cluster.store.limits.set({ per_address: { rate: 1 } })
  await spawn(cluster, 'one')
  await spawn(cluster, 'two')
  // The slots of workers that have joined divide the rate.
  await until(async () => ((await countOf(cluster, 'workers')) === 2 ? true : undefined))
  const runId = await submitted(cluster, '127.0.0.1', [
    bash('list', 'seq 1 4 > {{Output}}/list; echo $SCANFARM_RATE'),
    {
      name: 'each',
      type: 'foreach',
      input: '{{Output}}/list',
      variable: 'item',
      spread: { batch: '2' },
      step: bash('one', 'echo $SCANFARM_RATE'),
    },
  ])
  expect(await ended(cluster, runId)).toMatchObject({ status: 'completed', outcome: 'clean' })
  const [list, each] = await cluster.steps(runId)
  expect(list?.output).toBe('1\n')
  expect(each?.output).toMatch(/^(0\.5\n){4}4 items/)
})

/** Loops over six items in one batch; the first and the fourth item wait for a file. */
const waiting = (record: string, threads: number): Step[] => [
  bash('list', 'cd {{Output}}; seq 1 6 > list'),
  {
    name: 'each',
    type: 'foreach',
    input: '{{Output}}/list',
    variable: 'item',
    threads: String(threads),
    spread: { batch: '6' },
    step: bash(
      'one',
      `echo [[item]] >> ${record}/begun
       case [[item]] in 1|4) ${waitFor(`${record}/go-[[item]]`)};; esac
       echo [[item]] >> {{Output}}/all; echo said [[item]]`,
    ),
  },
  bash('last', 'sort -n {{Output}}/all | xargs; grep -c . {{Output}}/all'),
]

const begunIn = async (record: string): Promise<string[]> =>
  (await readFile(`${record}/begun`, 'utf8').catch(() => '')).trim().split('\n')

test.each(['drains', 'an operator stops'])('a batch whose worker %s ends after its item', async (how) => {
  await using cluster = await openTestCluster()
  const record = cluster.folder
  const config = cluster.config(envOf(cluster, 'one', { SCANFARM_WORKER_DRAIN_MS: String(TEST_MS) }))
  await using first = await startWorker(config, { log: silentLogger })
  const runId = await submitted(cluster, freshName(), waiting(record, 1))
  const sending = setInterval(() => void cluster.dispatch().catch(() => undefined), 200)
  using _ = { [Symbol.dispose]: () => clearInterval(sending) }
  await writeFile(`${record}/go-1`, '')
  await until(async () => ((await begunIn(record)).includes('4') ? true : undefined))
  const { runs, workers } = cluster.store
  const [joined] = (await workers.list()).data
  if (how === 'drains') void first[Symbol.asyncDispose]()
  else expect(await workers.direct(joined?.id ?? '', 'stopped', TEST_MS)).toBe('ok')
  const isStopping = async () =>
    first.status.paused || (await countOf(cluster, 'workers where draining')) === 1
  await until(async () => ((await isStopping()) ? true : undefined))
  await writeFile(`${record}/go-4`, '')
  const batches = async () => (await runs.list({ parent: runId }, { offset: 0, limit: 9 })).data.reverse()
  await until(async () => ((await batches()).length === 3 ? true : undefined))
  expect(await batches()).toMatchObject([
    { status: 'completed', loop_items: { first: 1, last: 4 } },
    { status: 'queued', loop_items: { first: 5, last: 5 } },
    { status: 'queued', loop_items: { first: 6, last: 6 } },
  ])
  await spawn(cluster, 'two')
  expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', outcome: 'clean', attempt: 1 })
  if (how !== 'drains') expect(await first.stopRequested).toBe('stop requested')
  expect(await begunIn(record)).toEqual(['1', '2', '3', '4', '5', '6'])
  const steps = await cluster.steps(runId)
  expect(steps.at(-1)?.output).toBe('1 2 3 4 5 6\n6\n')
  expect(steps[1]?.output).toContain('said 1\nsaid 2\nsaid 3\nsaid 4\n')
  const [done, rest] = await batches()
  expect(rest?.worker_id).not.toBe(done?.worker_id)
})

test('the ended items of a batch count whose commands a drain has killed', async () => {
  await using cluster = await openTestCluster()
  const record = cluster.folder
  const first = await spawn(cluster, 'one', { SCANFARM_WORKER_SLOTS: '2', SCANFARM_WORKER_DRAIN_MS: '0' })
  const runId = await submitted(cluster, freshName(), waiting(record, 2))
  const sending = setInterval(() => void cluster.dispatch().catch(() => undefined), 200)
  using _ = { [Symbol.dispose]: () => clearInterval(sending) }
  await until(async () => ((await begunIn(record)).includes('4') ? true : undefined))
  first.send('SIGTERM')
  await first.ended
  const query = 'select batch, status from runs where batch is not null order by id'
  const { rows } = await cluster.sql(query)
  expect(rows).toEqual([
    { batch: [1, 2], status: 'completed' },
    { batch: [0, 0], status: 'queued' },
    { batch: [3, 3], status: 'queued' },
    { batch: [4, 4], status: 'queued' },
    { batch: [5, 5], status: 'queued' },
  ])
  for (const item of ['1', '4']) await writeFile(`${record}/go-${item}`, '')
  await spawn(cluster, 'two')
  expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', outcome: 'clean', attempt: 2 })
  expect((await begunIn(record)).toSorted()).toEqual(['1', '1', '2', '3', '4', '4', '5', '6'])
  const steps = await cluster.steps(runId)
  expect(steps.at(-1)?.output).toBe('1 2 3 4 5 6\n6\n')
  expect(steps.find(({ output }) => output.includes('said'))?.output).toMatch(
    /^said 1\nsaid 2\nsaid 3\nsaid 4\nsaid 5\nsaid 6\n/,
  )
})

test('a cancel reaches all batches, and the log of the run says that they are larger than asked for', async () => {
  await using cluster = await openTestCluster()
  const { record, steps } = await gated(cluster, 4_001)
  await spawn(cluster, 'one')
  const runId = await submitted(cluster, freshName(), steps)
  const sending = setInterval(() => void cluster.dispatch().catch(() => undefined), 200)
  using _ = { [Symbol.dispose]: () => clearInterval(sending) }
  const pid = await pidOf(record)
  await cluster.store.runs.requestCancel(String(runId))
  expect(await cluster.ended(runId)).toMatchObject({ status: 'cancelled' })
  expect(await gone(pid)).toBe(true)
  const open = "runs where batch is not null and status in ('pending', 'queued', 'running')"
  await until(async () => ((await countOf(cluster, open)) === 0 ? true : undefined))
  expect(await countOf(cluster, "runs where batch is not null and status = 'cancelled'")).toBe(1_334)
  const { run_uuid: runUuid } = await cluster.run(runId)
  const log = join(cluster.config().artifacts.folder, 'runs', runUuid, '1', RUN_LOG_NAME)
  expect(await readFile(log, 'utf8')).toMatch(/each: batches of 3 items, not 2: 2,000 batches are the most$/m)
})
