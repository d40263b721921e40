import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, jest, test } from '@jest/globals'
import type { Step, Workflow } from '@scanfarm/language'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { openHarness } from '../harness/executors.ts'
import { bash, freshName, TEST_MS, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(openHarness)
let record: string
beforeAll(async () => {
  record = join(harness.folder, 'record')
  await mkdir(record)
})

/** Stores after each step, however short. */
const eager = { times: { resumeMs: 0 }, limits: { resumeShare: Infinity } }
/** Shell text that notes an execution of the step outside of the workspace. */
const noted = (target: string, name: string): string =>
  `echo $SCANFARM_ATTEMPT >> ${record}/${target}-${name}`
const executions = async (target: string, name: string): Promise<string> =>
  await readFile(join(record, `${target}-${name}`), 'utf8').catch(() => '')
const inWorkspace = (target: string, ...names: string[]): string =>
  join(harness.folder, 'work/workspaces', target, ...names)

/** Two steps with files and exports, and a third that waits for a file and depends on both. */
const chain = (target: string): Step[] => [
  bash('one', `${noted(target, 'one')}; mkdir -p {{Output}}/sub; seq 1 5 > {{Output}}/sub/list; echo 5`, {
    exports: { count: 'stdout' },
  }),
  bash(
    'two',
    `${noted(target, 'two')}; sort -rn {{Output}}/sub/list > {{Output}}/sorted; echo "{{count}}" > {{TempDir}}/kept`,
  ),
  bash(
    'three',
    `${noted(target, 'three')}; echo half >> {{Output}}/sorted; ${waitFor(`${record}/${target}-go`)};
     cat {{TempDir}}/kept > {{Output}}/all; wc -l < {{Output}}/sorted >> {{Output}}/all; echo "{{count}}" >> {{Output}}/all`,
  ),
]

const stored = async (runId: number, entries: number): Promise<void> => {
  const { run_uuid } = await harness.run(runId)
  const key = `runs/${run_uuid}/1/resume/${entries}.json`
  await until(async () => (await harness.artifacts.size(key)) !== undefined)
}

const release = (target: string): Promise<void> => writeFile(join(record, `${target}-go`), '')

/** Executes a workflow until its step waits and `entries` are stored, then drains the executor. */
const drained = async (
  target: string,
  workflow: Step[] | Omit<Workflow, 'name'>,
  entries: number,
  meanwhile: (runId: number) => Promise<void> = async () => {},
): Promise<number> => {
  await using executor = harness.executor(eager)
  const [runId = 0] = await harness.submit(workflow, { targets: [target] })
  await meanwhile(runId)
  await until(async () => (await executions(target, 'three')) !== '')
  await stored(runId, entries)
  await executor.drain(0)
  expect(await harness.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
  return runId
}

test('a drained run continues on another machine after its last completed step, with its files and exports', async () => {
  const target = freshName()
  const runId = await drained(target, chain(target), 2)
  const { run_uuid } = await harness.run(runId)
  const objects = await Array.fromAsync(
    harness.artifacts.list(`runs/${run_uuid}/1/resume/files`),
    ({ key }) => key,
  )
  // The other machine has no folder of the workspace.
  await rename(inWorkspace(target), join(record, `${target}-away`))
  await release(target)
  await using _ = harness.executor(eager)
  expect(await harness.ended(runId)).toMatchObject({
    status: 'completed',
    outcome: 'clean',
    attempt: 2,
    completed_steps: 3,
  })
  expect(await readFile(inWorkspace(target, 'all'), 'utf8')).toBe('5\n6\n5\n')
  expect(await executions(target, 'one')).toBe('1\n')
  expect(await executions(target, 'two')).toBe('1\n')
  expect(await executions(target, 'three')).toBe('1\n2\n')
  // The second entry has two small files, in one object.
  expect(objects).toHaveLength(2)
  const from = { run_uuid, attempt: 1 }
  expect(await harness.steps(runId)).toMatchObject([
    {
      step_name: 'one',
      attempt: 2,
      status: 'completed',
      output: '5\n',
      exports: { count: '5' },
      taken_from: from,
    },
    { step_name: 'two', attempt: 2, status: 'completed', taken_from: from },
    { step_name: 'three', attempt: 2, status: 'completed', taken_from: null },
  ])
})

test('a drained flow takes over hooks, actions, parallel modules and failed steps, and executes the rest', async () => {
  const target = freshName()
  const note = (name: string): string => noted(target, name)
  const flow: Omit<Workflow, 'name'> = {
    kind: 'flow',
    hooks: { pre_scan_steps: [bash('before', note('before'))] },
    modules: [
      {
        name: 'first',
        steps: [
          bash('fails', `${note('fails')}; exit 3`, { on_error: [{ action: 'continue' }] }),
          bash('skipped', note('skipped'), { pre_condition: 'false' }),
          bash('works', `${note('works')}; echo "{{RandomString}} {{TimeStamp}}" > {{Output}}/common`),
        ],
        on_success: [
          { action: 'run', type: 'bash', command: note('action') },
          { action: 'export', name: 'found', value: 'yes' },
        ],
      },
      {
        name: 'second',
        depends_on: ['first'],
        condition: '!fileExists("{{Output}}/made")',
        steps: [
          bash('made', `${note('made')}; ${waitFor(`${record}/${target}-let`)}; touch {{Output}}/made`),
          bash(
            'three',
            `${note('three')}; ${waitFor(`${record}/${target}-go`)}; echo "{{RandomString}} {{TimeStamp}}" >> {{Output}}/common; echo "{{found}}" > {{Output}}/found`,
          ),
        ],
      },
    ],
  }
  const runId = await drained(target, flow, 6, async (id) => {
    await stored(id, 5)
    await writeFile(join(record, `${target}-let`), '')
  })
  await rm(inWorkspace(target), { recursive: true })
  await release(target)
  await using _ = harness.executor(eager)
  expect(await harness.ended(runId)).toMatchObject({
    status: 'completed',
    outcome: 'partial',
    failed_steps: 1,
    completed_steps: 5,
  })
  for (const name of ['before', 'fails', 'works', 'action', 'made'])
    expect([name, await executions(target, name)]).toEqual([name, '1\n'])
  const lines = (await readFile(inWorkspace(target, 'common'), 'utf8')).trimEnd().split('\n')
  expect(lines).toEqual([lines[0], lines[0]])
  expect(await readFile(inWorkspace(target, 'found'), 'utf8')).toBe('yes\n')
})

test('steps that are taken over are listed in the order in which they began', async () => {
  const target = freshName()
  const both = ['left', 'right'].map((name) => bash(name, `sleep 0.${name === 'left' ? 1 : 0}`))
  const parallel: Step = { name: 'both', type: 'parallel-steps', parallel_steps: both }
  const loop: Step = {
    name: 'each',
    type: 'foreach',
    input: '{{Output}}/sub/list',
    variable: 'word',
    step: bash('item', '[ [[word]] != 3 ]', { on_error: [{ action: 'run', type: 'bash', command: 'true' }] }),
    on_error: [{ action: 'continue' }],
  }
  const [one, two, three] = chain(target) as [Step, Step, Step]
  const runId = await drained(target, [one, parallel, loop, two, three], 4)
  const namesOf = async () => (await harness.steps(runId)).map(({ step_name: name }) => name)
  const before = await namesOf()
  await release(target)
  await using _ = harness.executor(eager)
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  expect(before).toEqual(['one', 'both', 'left', 'right', 'each', 'item', 'item-on_error-1', 'two', 'three'])
  expect(await namesOf()).toEqual(before)
})

test('a drained loop leaves out the items that ended, and joins outputs, failures and figures', async () => {
  const target = freshName()
  const all = Array.from({ length: 40 }, (_, index) => `item-${index}`)
  const loop: Step = {
    name: 'each',
    type: 'foreach',
    input: '{{Output}}/list',
    variable: 'word',
    threads: '1',
    step: bash(
      'one',
      `echo [[word]] [[_id_]] >> ${record}/${target}-three
       case [[word]] in item-1) exit 4 ;; item-30) ${waitFor(`${record}/${target}-go`)} ;; esac
       echo [[word]] | tee -a {{Output}}/words`,
    ),
    on_error: [{ action: 'continue' }],
    exports: { streaming_output: '{{Output}}/streamed' },
  }
  const list = bash('list', `printf 'item-%s\\n' $(seq 0 39) > {{Output}}/list`)
  const runId = await drained(target, [list, loop], 3, async () => {
    await until(async () => (await executions(target, 'three')).includes('item-30'))
  })
  await rename(inWorkspace(target), join(record, `${target}-away`))
  await release(target)
  await using _ = harness.executor(eager)
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', outcome: 'partial', attempt: 2 })
  const begun = (await executions(target, 'three')).trimEnd().split('\n')
  const [first = ''] = begun.slice(31)
  const from = all.indexOf(first.split(' ')[0] ?? '')
  // At least the item that was interrupted is executed again.
  expect(from).toBeGreaterThan(1)
  expect(from).toBeLessThanOrEqual(30)
  const again = [...all.slice(0, 31), ...all.slice(from)]
  expect(begun).toEqual(again.map((item) => `${item} ${Number(item.slice(5)) + 1}`))
  const done = `${all.filter((item) => item !== 'item-1').join('\n')}\n`
  expect(await readFile(inWorkspace(target, 'words'), 'utf8')).toBe(done)
  expect(await readFile(inWorkspace(target, 'streamed'), 'utf8')).toBe(done)
  expect(await harness.steps(runId)).toMatchObject([
    { step_name: 'list', taken_from: { attempt: 1 } },
    {
      step_name: 'each',
      status: 'failed',
      error_message: expect.stringContaining('40 items: 39 completed, 1 failed, 0 skipped'),
      output: expect.stringMatching(`^${done}[^]*40 items: 39 completed, 1 failed`),
      taken_from: null,
    },
    { step_name: 'one', status: 'failed', attempt: 2, taken_from: { attempt: 1 } },
  ])
})

test('an item that is executed again has its rows once, and items that ended keep theirs', async () => {
  const target = freshName()
  const isLast = `[ [[word]] -gt 2 ]`
  const right = `[ [[word]] != 2 ] || { ${noted(target, 'three')}; ${waitFor(`${record}/${target}-go`)}; }`
  const loop: Step = {
    name: 'each',
    type: 'foreach',
    input: '{{Output}}/list',
    variable: 'word',
    threads: '2',
    step: {
      name: 'item',
      type: 'parallel-steps',
      parallel_steps: [bash('left', isLast), bash('right', right)],
      on_error: [{ action: 'run', type: 'bash', command: ': [[word]]' }],
    },
    on_error: [{ action: 'continue' }],
  }
  const runId = await drained(target, [bash('list', 'seq 9 > {{Output}}/list'), loop], 4)
  await release(target)
  await using _ = harness.executor(eager)
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  expect(await executions(target, 'three')).toBe('1\n2\n')
  const steps = await harness.steps(runId)
  const rowsOf = (name: string): string[] =>
    steps.filter((step) => step.step_name === name).map(({ command }) => command)
  expect(rowsOf('item')).toHaveLength(2)
  expect(rowsOf('item-on_error-1')).toEqual([': 1', ': 2'])
  const words = Array.from({ length: 9 }, (_word, index) => String(index + 1))
  expect(rowsOf('left').sort()).toEqual(words.map((word) => `[ ${word} -gt 2 ]`))
  expect(rowsOf('right')).toHaveLength(9)
})

test('a drained loop inside an item of a loop begins again at its first item', async () => {
  const target = freshName()
  const note = `echo [[outer]][[inner]] >> ${record}/${target}-all`
  const wait = `[ [[outer]][[inner]] != 24 ] || { ${noted(target, 'three')}; ${waitFor(`${record}/${target}-go`)}; }`
  const loopOver = (variable: string, step: Step): Step => ({
    name: variable,
    type: 'foreach',
    input: '{{Output}}/list',
    variable,
    threads: '1',
    step,
  })
  const loop = loopOver('outer', loopOver('inner', bash('item', `${note}; ${wait}`)))
  const runId = await drained(target, [bash('list', 'seq 4 > {{Output}}/list'), loop], 2)
  await release(target)
  await using _ = harness.executor(eager)
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  const pairs = [1, 2, 3, 4].flatMap((outer) => [1, 2, 3, 4].map((inner) => `${outer}${inner}`))
  expect((await executions(target, 'all')).trimEnd().split('\n')).toEqual([
    ...pairs.slice(0, 8),
    ...pairs.slice(4),
  ])
})

type RetryFrom = Parameters<typeof harness.store.jobs.retry>[2]

/** The number of a retry, after its end. */
const retryOf = async (runId: number, from: RetryFrom): Promise<number> => {
  const { run_group_id: jobId } = await harness.run(runId)
  const source = await harness.store.jobs.retrySource(jobId)
  const selection = { statuses: ['failed', 'cancelled'], outcomes: [] } as const
  const job = await harness.store.jobs.retry(source?.no ?? 0, selection, from)
  const { data } = await harness.store.runs.list({ jobId: job?.jobId ?? '' }, { offset: 0, limit: 10 })
  const id = data[0]?.id ?? 0
  await harness.ended(id)
  return id
}

test('a retry from a step says where it begins instead, and why', async () => {
  const target = freshName()
  const steps = ['one', 'two', 'three'].map((name) =>
    bash(name, name === 'three' ? 'exit 1' : noted(target, name)),
  )
  const begun = async (runId: number, from: RetryFrom): Promise<unknown> =>
    (await harness.run(await retryOf(runId, from))).facts
  await using executor = harness.executor({ times: { resumeMs: 0 }, limits: { resumeShare: 0 } })
  const [first = 0] = await harness.submit(steps, { targets: [target] })
  await harness.ended(first)
  expect(await begun(first, { from: { step: 'two' } })).toEqual({
    'begins at': 'step one, not two: steps between them have not ended or are not stored',
  })
  expect(await executions(target, 'one')).toBe('1\n1\n')
  expect(await begun(first, { from: { step: 'one' } })).toEqual({})
  await executor.drain(0)
  await using _ = harness.executor(eager)
  const [second = 0] = await harness.submit(steps, { targets: [freshName()] })
  await harness.ended(second)
  expect(await begun(second, { from: { step: 'four' } })).toEqual({
    'begins at': 'step three, not four: steps between them have not ended or are not stored',
  })
  expect(await begun(second, { from: { step: 'one' } })).toEqual({})
  // As if the second step had been too short to be stored.
  const forget = `update runs set resume = jsonb_set(resume, '{entries}', '1') where id >= $1`
  await harness.sql(forget, [second])
  expect(await begun(second, { from: 'failed' })).toEqual({
    'begins at': 'step two, not three: steps between them have not ended or are not stored',
  })
  const [third = 0] = await harness.submit([bash('one', 'exit 1'), bash('two', 'true')])
  await harness.ended(third)
  for (const from of ['failed', { step: 'one' }] as const) expect(await begun(third, { from })).toEqual({})
})

test('a retry of a failed run begins at the failed step, a named one, or the start, with the files as they were then', async () => {
  const target = freshName()
  // No entry is due before the run ends.
  await using _ = harness.executor({ times: { resumeMs: 3_600_000 }, limits: { resumeShare: Infinity } })
  const append = (name: string): Step =>
    bash(name, `${noted(target, name)}; seq 900 >> {{Output}}/list; seq 9000 > {{Output}}/${name}`)
  const fails = bash(
    'three',
    `${noted(target, 'three')}; wc -l < {{Output}}/list > ${record}/${target}-seen; ls {{Output}} >> ${record}/${target}-seen
     head -c 100000 /dev/zero | tee {{Output}}/list > {{Output}}/two; rm {{Output}}/one; touch {{Output}}/made
     test -e ${record}/${target}-go`,
  )
  const [first = 0] = await harness.submit([append('one'), append('two'), fails], { targets: [target] })
  expect(await harness.ended(first)).toMatchObject({ status: 'failed' })
  const counts = async (): Promise<number[]> =>
    await Promise.all(
      ['one', 'two', 'three'].map(async (name) => (await executions(target, name)).split('\n').length - 1),
    )
  let last = 0
  for (const [from, expected] of [
    ['failed', [1, 1, 2]],
    [{ step: 'two' }, [1, 2, 3]],
    [null, [2, 3, 4]],
    ['failed', [2, 3, 5]],
  ] as const) {
    if (expected[2] === 5) await release(target)
    await rm(inWorkspace(target), { recursive: true })
    last = await retryOf(first, { from })
    expect([from, await counts(), (await harness.run(last)).facts]).toEqual([from, expected, {}])
    expect(await executions(target, 'seen')).toBe('1800\nlist\none\ntwo\n')
  }
  const { run_uuid, status } = await harness.run(last)
  expect(status).toBe('completed')
  // Nothing is left of what the run took over.
  const left = (): Promise<string[]> =>
    Array.fromAsync(harness.artifacts.list(`runs/${run_uuid}`), ({ key }) => key)
  await until(async () => !(await left()).some((key) => key.includes('/resume/')))
})

test('a run stores nothing with resume: none, and says why when it cannot store its state', async () => {
  const [plain, secret] = [freshName(), freshName()]
  await using _ = harness.executor({
    ...eager,
    operatorInput: { folders: {}, env: {}, variables: {}, secrets: ['hunter2hunter2'] },
  })
  const steps = (target: string): Step[] => [
    bash('one', `${noted(target, 'one')}; echo hunter2hunter2 > {{Output}}/one`),
    bash('two', noted(target, 'two')),
    bash('three', 'exit 1'),
  ]
  const [none = 0] = await harness.submit(
    { kind: 'module', resume: 'none', steps: steps(plain) },
    { targets: [plain] },
  )
  const [open = 0] = await harness.submit(steps(secret), { targets: [secret] })
  expect((await harness.ended(none)).facts).toEqual({})
  const stored = { 'not resumable': 'w/one contains a secret or the path of the folder TempDir' }
  expect((await harness.ended(open)).facts).toEqual(stored)
  // A job may say otherwise than its workflow.
  const [never, always] = [freshName(), freshName()]
  const [off = 0] = await harness.submit(steps(never), { targets: [never], job: { resume: 'none' } })
  expect((await harness.ended(off)).facts).toEqual({})
  const [on = 0] = await harness.submit(
    { kind: 'module', resume: 'none', steps: steps(always) },
    { targets: [always], job: { resume: 'steps' } },
  )
  expect((await harness.ended(on)).facts).toEqual(stored)
})
