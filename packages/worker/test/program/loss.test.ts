import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { until } from '@scanfarm/testing'
import { expect, jest, test } from '@jest/globals'
import { openTestCluster, type TestCluster } from '../harness/workers.ts'
import { TEST_MS, freshName, gone, isAlive } from '../harness/runs.ts'
import { openGate } from '../harness/gate.ts'

jest.setTimeout(TEST_MS)

const LEASE_MS = 3_000
const env = { SCANFARM_WORKER_LEASE_MS: String(LEASE_MS), SCANFARM_WORKER_SLOTS: '1' }

const pidOf = async (cluster: TestCluster, target: string, attempt: number): Promise<number> =>
  Number(await cluster.written(target, `pid-${attempt}`))

/** Writes its attempt to a file, then waits for a file. */
const GATED = {
  name: 'gated',
  command:
    'echo $$ > {{Output}}/pid-$SCANFARM_ATTEMPT; while [ ! -e {{Output}}/go ]; do sleep 0.05; done; echo by attempt $SCANFARM_ATTEMPT',
}
const LAST = { name: 'last', command: 'echo $SCANFARM_ATTEMPT > {{Output}}/last-$SCANFARM_ATTEMPT' }

const letGo = async (cluster: TestCluster, target: string): Promise<void> => {
  await writeFile(`${cluster.folder}/data/work/workspaces/${target}/go`, '')
}

test.concurrent(
  'A worker that is killed loses its commands with it, and another one runs its run again',
  async () => {
    await using cluster = await openTestCluster()
    const target = freshName()
    const first = await cluster.spawnWorker(env)
    const [runId = 0] = await cluster.submit([GATED, LAST], [target])
    const pid = await pidOf(cluster, target, 1)
    first.send('SIGKILL')
    expect(await first.ended).toBe('SIGKILL')
    expect(await gone(pid)).toBe(true)
    const second = await cluster.spawnWorker(env)
    await cluster.reapUntilOneIsLost(LEASE_MS)
    await pidOf(cluster, target, 2)
    await letGo(cluster, target)
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', attempt: 2, completed_steps: 2 })
    expect((await cluster.store.runs.steps(String(runId)))?.data).toMatchObject([
      { output: 'by attempt 2\n', status: 'completed' },
      { status: 'completed' },
    ])
    second.send('SIGTERM')
    expect(await second.ended).toBe(0)
  },
)

test.concurrent(
  'A worker that is killed in a step has completed the one before it once and for all',
  async () => {
    await using cluster = await openTestCluster()
    const target = freshName()
    const record = `${cluster.folder}/record`
    await mkdir(record)
    const noted = (name: string, command: string) => ({
      name,
      command: `echo $SCANFARM_ATTEMPT >> ${record}/${name}; ${command}`,
    })
    const steps = [
      // A run stores nothing for a second after its start. With another step before it, either may be the first stored.
      noted('one', 'sleep 1.2; seq 1 9 > {{Output}}/one; sort -rn {{Output}}/one > {{Output}}/two'),
      noted('wait', `echo half >> {{Output}}/two; until [ -e ${record}/go ]; do sleep 0.05; done`),
      noted('last', 'cat {{Output}}/one {{Output}}/two > {{Output}}/last'),
    ]
    const first = await cluster.spawnWorker(env)
    const [runId = 0] = await cluster.submit(steps, [target])
    const stored = async (): Promise<number | undefined> => {
      const query = "select (resume ->> 'entries')::int as entries from runs where id = $1"
      const { rows } = await cluster.sql<{ entries: number | null }>(query, [runId])
      return rows[0]?.entries ?? undefined
    }
    await until(async () => (await stored()) === 1, { what: 'the state after the first step' })
    first.send('SIGKILL')
    await first.ended
    // As on another machine.
    await rm(`${cluster.folder}/data/work/workspaces/${target}`, { recursive: true })
    await writeFile(`${record}/go`, '')
    const second = await cluster.spawnWorker(env)
    await cluster.reapUntilOneIsLost(LEASE_MS)
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', outcome: 'clean', attempt: 2 })
    for (const [name, attempts] of [
      ['one', '1\n'],
      ['last', '2\n'],
    ] as const)
      expect([name, await readFile(`${record}/${name}`, 'utf8')]).toEqual([name, attempts])
    const numbers = Array.from({ length: 9 }, (_, index) => index + 1)
    const lines = [...numbers, ...numbers.toReversed(), 'half']
    expect(await cluster.written(target, 'last')).toBe(`${lines.join('\n')}\n`)
    second.send('SIGTERM')
    expect(await second.ended).toBe(0)
  },
)

test.concurrent(
  'A worker that was frozen past its lease has its results refused, and kills what it still runs',
  async () => {
    await using cluster = await openTestCluster()
    const target = freshName()
    const frozen = await cluster.spawnWorker(env)
    const [runId = 0] = await cluster.submit([GATED, LAST], [target])
    const pid = await pidOf(cluster, target, 1)
    frozen.send('SIGSTOP')
    const second = await cluster.spawnWorker(env)
    await cluster.reapUntilOneIsLost(LEASE_MS)
    const successor = await pidOf(cluster, target, 2)
    frozen.send('SIGCONT')
    expect(await gone(pid)).toBe(true)
    expect(await isAlive(successor)).toBe(true)
    await letGo(cluster, target)
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', attempt: 2, completed_steps: 2 })
    const steps = (await cluster.store.runs.steps(String(runId)))?.data
    expect(steps).toMatchObject([{ output: 'by attempt 2\n' }, { status: 'completed' }])
    // The worker that lost its lease has joined again, under a new id.
    second.send('SIGTERM')
    await second.ended
    const [next = 0] = await cluster.submit([{ name: 'noop', command: 'true' }], [freshName()])
    expect(await cluster.ended(next)).toMatchObject({ status: 'completed' })
    frozen.send('SIGTERM')
    expect(await frozen.ended).toBe(0)
  },
)

test.concurrent('A worker that is told to stop hands back what does not end in time', async () => {
  await using cluster = await openTestCluster()
  const target = freshName()
  const worker = await cluster.spawnWorker({ ...env, SCANFARM_WORKER_DRAIN_MS: '300' })
  const [runId = 0] = await cluster.submit([GATED], [target])
  const pid = await pidOf(cluster, target, 1)
  worker.send('SIGTERM')
  expect(await worker.ended).toBe(0)
  expect(await isAlive(pid)).toBe(false)
  expect(await cluster.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
  expect((await cluster.store.workers.list()).data.filter(({ status }) => status !== 'lost')).toEqual([])
  await cluster.store.runs.requestCancel(String(runId))
})

test.concurrent(
  'A database that is away for longer than a lease stops no run, and costs no result',
  async () => {
    await using cluster = await openTestCluster()
    await using gate = await openGate(cluster.databaseUrl)
    const target = freshName()
    const worker = await cluster.spawnWorker({ ...env, DATABASE_URL: gate.url })
    const [runId = 0] = await cluster.submit([GATED, LAST], [target])
    await pidOf(cluster, target, 1)
    await gate.shut()
    await letGo(cluster, target)
    expect(await cluster.written(target, 'last-1')).toBe('1\n')
    expect(await cluster.run(runId)).toMatchObject({ status: 'running', completed_steps: 0 })
    await gate.open()
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', attempt: 1, completed_steps: 2 })
    expect((await cluster.store.runs.steps(String(runId)))?.data).toMatchObject([
      { output: 'by attempt 1\n', status: 'completed' },
      { status: 'completed' },
    ])
    worker.send('SIGTERM')
    expect(await worker.ended).toBe(0)
  },
)

test.concurrent('A worker that is told to stop while the database is away ends all the same', async () => {
  await using cluster = await openTestCluster()
  await using gate = await openGate(cluster.databaseUrl)
  const target = freshName()
  const worker = await cluster.spawnWorker({
    ...env,
    DATABASE_URL: gate.url,
    SCANFARM_WORKER_DRAIN_MS: '300',
  })
  const [runId = 0] = await cluster.submit([GATED], [target])
  const pid = await pidOf(cluster, target, 1)
  await gate.shut()
  worker.send('SIGTERM')
  expect({ code: await worker.ended, log: worker.output() }).toMatchObject({ code: 0 })
  expect(await isAlive(pid)).toBe(false)
  await cluster.reapUntilOneIsLost(LEASE_MS)
  expect(await cluster.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
  await cluster.store.runs.requestCancel(String(runId))
})

test.concurrent(
  'A worker that is killed gives its shares of a limit back with its lease, and no more than the limit are used',
  async () => {
    await using cluster = await openTestCluster()
    await cluster.store.limits.set({ per_network: { runs: 2, rate: 10 } })
    const targets = [1, 2, 3, 4, 5].map((host) => `203.0.113.${host}`)
    const used = { runs: 0, rate: 0, commands: 0 }
    const note = async (): Promise<number> => {
      await cluster.dispatch()
      const { rows } = await cluster.sql<{ runs: number; rate: number }>(
        'select count(*)::int as runs, coalesce(sum(rate), 0)::int as rate from limit_uses where until > now()',
      )
      const folders = targets.map((target) => `${cluster.folder}/data/work/workspaces/${target}`)
      const files = await Promise.all(
        folders.map(async (folder) =>
          (await readdir(folder).catch(() => []))
            .filter((name) => name.startsWith('pid-'))
            .map((name) => `${folder}/${name}`),
        ),
      )
      const alive = await Promise.all(
        files.flat().map(async (file) => {
          const pid = await readFile(file, 'utf8')
          return pid.endsWith('\n') && (await isAlive(Number(pid)))
        }),
      )
      const commands = alive.filter(Boolean).length
      used.runs = Math.max(used.runs, rows[0]?.runs ?? 0)
      used.rate = Math.max(used.rate, rows[0]?.rate ?? 0)
      used.commands = Math.max(used.commands, commands)
      return commands
    }
    const two = async () => ((await note()) === 2 ? true : undefined)
    const slots = { ...env, SCANFARM_WORKER_SLOTS: '4' }
    const first = await cluster.spawnWorker(slots)
    const runIds = await cluster.submit([GATED], targets)
    await until(two, { what: 'two commands' })
    first.send('SIGKILL')
    await first.ended
    await cluster.spawnWorker(slots)
    await until(async () => ((await note()) === 0 ? true : undefined), { what: 'the end of the commands' })
    await cluster.reapUntilOneIsLost(LEASE_MS)
    await until(two, { what: 'two commands of the other worker' })
    for (const target of targets) {
      await mkdir(`${cluster.folder}/data/work/workspaces/${target}`, { recursive: true })
      await letGo(cluster, target)
    }
    await until(
      async () => {
        await note()
        const runs = await Promise.all(runIds.map((id) => cluster.store.runs.find(String(id))))
        return runs.every((run) => run?.status === 'completed') ? true : undefined
      },
      { what: 'the end of all runs' },
    )
    expect(used).toEqual({ runs: 2, rate: 10, commands: 2 })
  },
)
