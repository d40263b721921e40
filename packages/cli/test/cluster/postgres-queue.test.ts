import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, jest, test } from '@jest/globals'
import type { Run } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { runProgram } from '../../src/index.ts'
import { captureTerminal } from '../captured-terminal.ts'
import { TestCluster, TOKEN, until } from './test-cluster.ts'
import { expectExactlyOnce, expectOvertaking } from './expectations.ts'
import { jobEnded, runsOf, submit, targets } from './jobs.ts'

jest.setTimeout(600_000)

const SLOTS = 8
const LOW_RUNS = 100

const NEEDY = `kind: module
name: needy
dependencies: {commands: [sh, no-such-tool]}
steps: [{name: a, type: bash, command: 'true'}]
`

const cluster = forAllTests(() =>
  TestCluster.start({
    queue: 'postgres',
    workers: 2,
    slots: SLOTS / 2,
    env: { SCANFARM_WORKFLOWS_STRICT_PARAMS: 'true', SCANFARM_LOCAL_SLOTS: '0' },
  }),
)
beforeAll(() => writeFileSync(join(cluster.folder, 'workflows', 'needy.yaml'), NEEDY))

const started = (args: readonly string[]) => {
  const env = { SCANFARM_DATA_DIR: cluster.folder, SCANFARM_URL: cluster.client.url, SCANFARM_TOKEN: TOKEN }
  const terminal = captureTerminal(env)
  return { terminal, ended: runProgram(args, terminal) }
}
const run = async (args: readonly string[]) => {
  const { terminal, ended } = started(args)
  return { code: await ended, out: terminal.stdout(), err: terminal.stderr() }
}

test('On the Postgres queue, two workers complete each run of a job of 200 targets exactly once', async () => {
  const hosts = targets(200)
  const jobId = await submit(cluster.client, { module: 'noop', targets: hosts })
  await jobEnded(cluster.client, jobId)
  await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['nothing'] })
})

test('On the Postgres queue, a critical run starts before queued runs of low priority', () =>
  expectOvertaking(cluster, SLOTS, LOW_RUNS))

test('With workflows.strict_params, workers take a param without a type for one word', async () => {
  const jobId = await submit(cluster.client, {
    module: 'words',
    targets: ['strict.test'],
    params: { text: 'a b' },
  })
  await jobEnded(cluster.client, jobId)
  const [run] = await runsOf(cluster.client, jobId)
  const { data } = await cluster.client.get<{ data: { output: string }[] }>(`/runs/${run?.id}/steps`)
  expect(data).toMatchObject([{ output: '[a b]' }])
})

test('a run without a mode is distributed if the server has no local slots', async () => {
  const { code, err } = await run(['run', '-m', 'noop', '-t', 'example.com', '--wait'])
  expect(err).toMatch(/1\/1 {2}1 completed\n$/)
  expect(code).toBe(0)
  const { out } = await run(['runs', '--target', 'example.com'])
  expect(out).not.toContain('WAITING')
  const { out: json } = await run(['runs', '--target', 'example.com', '--json'])
  expect(JSON.parse(json)).toMatchObject({ data: [{ run_mode: 'distributed' }] })
})

test('a local run is refused if the server has no local slots, and the error names the setting', async () => {
  const { code, err } = await run(['run', '-m', 'noop', '-t', 'example.com', '--mode', 'local'])
  expect(code).not.toBe(0)
  expect(err).toContain('local mode requires a server with local slots')
  expect(err).toContain('send run_mode distributed, or set local.slots to 1 or more')
})

test('run --wait and runs show why no live worker can take a run', async () => {
  const { terminal, ended } = started(['run', '-m', 'needy', '-t', 'needs.example', '--wait'])
  let hasEnded = false
  void ended.finally(() => (hasEnded = true))
  await until(
    'the reason is shown',
    () => hasEnded || terminal.stderr().includes('no live worker offers: tool:no-such-tool'),
  )
  expect(terminal.stderr()).toContain('no live worker offers: tool:no-such-tool')
  const { out } = await run(['runs', '--target', 'needs.example'])
  expect(out).toMatch(/WAITING\n.* no live worker offers: tool:no-such-tool\n/)
  const { data } = JSON.parse((await run(['runs', '--target', 'needs.example', '--json'])).out) as {
    data: Run[]
  }
  await run(['cancel', String(data[0]?.id)])
  expect(await ended).not.toBe(0)
})

test('doctor -f shows what workers lack for a workflow, and run warns about it', async () => {
  const { code, out, err } = await run(['doctor', '-m', 'needy'])
  expect(code).toBe(1)
  expect(out).toMatch(/workers +ok +2 connected/)
  expect(out).toMatch(
    /tools +failed +none can run it; .* lacks no-such-tool: on its machine, install no-such-tool/,
  )
  expect(out).toMatch(/^NEEDS[^]*^no-such-tool +0 of 2 +missing +missing$[^]*^sh +2 of 2 +yes +yes$/m)
  expect(err).toMatch('"needy" cannot run: tools')
  expect(await run(['doctor', '-m', 'noop'])).toMatchObject({ code: 0, err: '' })
  expect(await run(['doctor', '-f', 'noop'])).toMatchObject({ code: 2 })

  const waits = await run(['run', '-m', 'needy', '-t', 'warned.example'])
  expect(waits).toMatchObject({ code: 0 })
  expect(waits.err).toMatch(/^scanfarm: missing_tools: no live worker has no-such-tool; the runs wait/)
  const fails = await run(['run', '-m', 'needy', '-t', 'failed.example', '--missing-tools', 'fail'])
  expect(fails.code).toBe(5)
  expect(fails.err).toMatch('no live worker has no-such-tool: on a worker, install no-such-tool; or')
  const { data } = JSON.parse((await run(['runs', '--target', 'warned.example', '--json'])).out) as {
    data: Run[]
  }
  await run(['cancel', String(data[0]?.id)])
})
