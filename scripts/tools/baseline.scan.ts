import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TestCluster, type Client } from '@scanfarm/cli/testing'
import { until } from '@scanfarm/testing'
import { compare, findingsIn, foundIn, nameOf, pageOfScores, scoresOfModules, tableOf } from './found.ts'
import { CLEAN, Lab, PLANTED, WEAK, type Planted } from './lab.ts'

const RUN_MS = 600_000
/** For `--write` of main.ts. */
const PAGE = join(import.meta.dirname, '../../.cache/what-baseline-finds.md')
const WORKFLOWS = join(import.meta.dirname, '../../workflows')

interface Run {
  readonly run_uuid: string
  readonly status: string
  readonly outcome: string
  readonly workspace: string
  readonly error_message: string
  readonly outcome_reasons: readonly string[]
}

let lab: Lab
let farm: TestCluster
let client: Client
beforeAll(async () => {
  lab = await Lab.start()
  farm = await TestCluster.start({
    workers: 1,
    slots: 8,
    env: { SCANFARM_WORKFLOWS_FOLDERS: WORKFLOWS, SCANFARM_RUNNER_PATH: '' },
  })
  client = farm.client
})

afterAll(async () => {
  await farm?.[Symbol.asyncDispose]()
  await lab?.[Symbol.asyncDispose]()
})

/** Runs the flow and returns its row when it has ended. */
async function scan(
  target: string,
  workspace: string,
  params: Record<string, string> = {},
  workflow: object = { flow: 'baseline' },
): Promise<Run> {
  const began = Date.now()
  const { job_id: job } = await client.post<{ job_id: string }>('/runs', {
    ...workflow,
    targets: [target],
    run_mode: 'distributed',
    workspace,
    params: 'flow' in workflow ? { ports: lab.ports, ...params } : params,
  })
  let run: Run | undefined
  await until(
    async () => {
      ;[run] = await client.all<Run>(`/runs?job_id=${job}`)
      return run !== undefined && ['completed', 'failed', 'cancelled'].includes(run.status)
    },
    { limitMs: RUN_MS },
  )
  if (run === undefined) throw new Error(`there is no run of ${target}`)
  const seconds = Math.round((Date.now() - began) / 1000)
  console.log([`${target}: ${run.status}, ${run.outcome}, ${seconds} s`, ...run.outcome_reasons].join('\n  '))
  return run
}

const plantedOn = (...services: string[]): Planted[] =>
  PLANTED.filter(({ service }) => services.includes(service))

const names = (found: readonly Planted[]): string[] => found.map(nameOf).toSorted()

describe('the flow baseline', () => {
  test('finds in the whole network everything that is planted, and nothing else', async () => {
    const run = await scan(lab.network, 'network')
    const found = await foundIn(client, 'network', lab)
    const scores = compare(PLANTED, found)
    console.log(tableOf(scores))
    mkdirSync(dirname(PAGE), { recursive: true })
    writeFileSync(PAGE, pageOfScores(scoresOfModules(PLANTED, found), WEAK.length, CLEAN.length))
    expect(run).toMatchObject({ status: 'completed', outcome: 'clean' })
    expect(scores.flatMap(({ missed }) => missed)).toEqual([])
    expect(scores.flatMap(({ wrong }) => wrong)).toEqual([])
  })

  test('finds the mistakes of an application by its URL', async () => {
    const run = await scan(`${lab.url('app')}/`, 'application')
    expect(run).toMatchObject({ status: 'completed', outcome: 'clean' })
    const planted = plantedOn('app').filter(({ tool }) => tool !== 'nmap')
    expect(names(await foundIn(client, 'application', lab))).toEqual(names(planted))
  })

  test('scans the hosts of a list', async () => {
    const list = [lab.place('ssh').host, lab.place('smtp').host, lab.place('closed-redis').host]
    const { path } = await client.upload('hosts.txt', `${list.join('\n')}\n`)
    const run = await scan(path, 'list')
    expect(run).toMatchObject({ status: 'completed', outcome: 'clean' })
    expect(names(await foundIn(client, 'list', lab))).toEqual(names(plantedOn('ssh', 'smtp', 'closed-redis')))
  })

  test('scans the hosts of a list with other lines, and names these', async () => {
    const list = [` ${lab.place('ssh').host} `, `${lab.url('careless')}/`, '', '# smtp', lab.address('smtp')]
    const { path } = await client.upload('mixed.txt', `${list.join('\n')}\n`)
    const run = await scan(path, 'mixed')
    expect(run).toMatchObject({ status: 'completed', outcome: 'partial' })
    expect(run.outcome_reasons).toHaveLength(1)
    expect(run.outcome_reasons[0]).toContain(`${lab.url('careless')}/`)
    expect(run.outcome_reasons[0]).toContain(lab.address('smtp'))
    expect(names(await foundIn(client, 'mixed', lab))).toEqual(names(plantedOn('ssh')))
  })

  test('fails if no line of a list is a host', async () => {
    const { path } = await client.upload('urls.txt', `${lab.url('careless')}/\n`)
    const run = await scan(path, 'urls-only')
    expect(run.status).toBe('failed')
    expect(run.error_message).toContain('the list has no host')
  })

  test('says why nmap refuses its ports', async () => {
    const run = await scan(lab.place('ssh').host, 'no-ports', { ports: 'abc' })
    expect(run.status).toBe('failed')
    expect(run.error_message).toMatch(/module ports failed: .*abc/)
  })

  test('checks TLS of a port with the module tls', async () => {
    const run = await scan(lab.address('old-tls'), 'one-port', {}, { module: 'tls' })
    expect(run).toMatchObject({ status: 'completed', outcome: 'clean' })
    expect(names(await foundIn(client, 'one-port', lab))).toContain('sslscan old-tls sslscan-tls10 low')
  })

  test.each([
    ['a host', () => lab.place('silent').host],
    ['a web server', () => `${lab.url('silent')}/`],
  ])('is not clean if %s does not answer', async (what, target) => {
    const run = await scan(target(), `silent-${what.replaceAll(' ', '-')}`, {
      ports: String(lab.place('silent').port),
    })
    expect(run.outcome).not.toBe('clean')
  })

  test('three nights tell what is gone, not reached and back, and keep what people decided', async () => {
    const places = ['ftp', 'redis'].map((name) => lab.place(name))
    const { data: schedule } = await client.post<{ data: { id: string } }>('/schedules', {
      name: 'nights',
      workflow_name: 'baseline',
      workflow_kind: 'flow',
      trigger_type: 'cron',
      schedule: '0 3 * * *',
      targets: places.map(({ host }) => host),
      params: { ports: places.map(({ port }) => port).join(',') },
    })
    const night = async () => {
      const { job_id: job } = await client.post<{ job_id: string }>(`/schedules/${schedule.id}/trigger`, {})
      const { data } = await until(
        () => client.get<{ data: { last: { job_id: string; outcome: string } | null }[] }>('/nights'),
        ({ data: nights }) => nights[0]?.last?.job_id === job,
        { limitMs: RUN_MS },
      )
      const { data: changes } = await client.get<{ data: Record<string, { vuln_info: string }[]> }>(
        `/jobs/${job}/changes`,
      )
      const kinds = ['new', 'back', 'gone', 'not_tested']
      const changed = kinds.flatMap((kind) => changes[kind]?.map((one) => `${kind} ${one.vuln_info}`) ?? [])
      return [data[0]?.last?.outcome, ...changed.toSorted()]
    }
    const findings = async () =>
      (await Promise.all(places.map(({ host }) => findingsIn(client, host)))).flat()
    expect(await night()).toEqual(['clean', 'new ftp-anon', 'new redis-info'])
    const decide = async (id: string, verdict: string) => {
      const ids = (await findings()).flatMap((row) => (row.vuln_info === id ? row.id : []))
      await client.post('/vulnerabilities/bulk', { ids, change: { verdict, reason: 'of the lab' } })
    }
    await decide('ftp-anon', 'fixed_claimed')
    await decide('redis-info', 'confirmed')

    await lab.restart('ftp', { fixed: true })
    await lab.silence('redis')
    expect(await night()).toEqual(['clean', 'gone ftp-anon', 'not_tested redis-info'])

    await lab.restart('ftp', { fixed: false })
    await lab.restart('redis', { fixed: false })
    expect(await night()).toEqual(['clean', 'back ftp-anon'])
    const kept = (await findings()).map((row) => `${row.vuln_info} ${row.seen} ${row.verdict}`)
    expect(kept.toSorted()).toEqual(['ftp-anon open fixed_claimed', 'redis-info open confirmed'])
  })

  test('finds old protocols of a URL with testssl', async () => {
    const run = await scan(`${lab.url('old-tls')}/`, 'deep', {
      deep_tls: 'true',
      testssl_checks: 'protocols',
      with_web_weaknesses: 'false',
    })
    expect(run).toMatchObject({ status: 'completed', outcome: 'clean' })
    const found = names((await foundIn(client, 'deep', lab)).filter(({ tool }) => tool === 'testssl'))
    expect(found).toEqual(
      expect.arrayContaining(['testssl old-tls testssl-TLS1 low', 'testssl old-tls testssl-TLS1_1 low']),
    )
  })
})
