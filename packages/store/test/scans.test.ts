import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { ClaimedRun, FindingContent, FoundRecords, NotTested } from '@scanfarm/contracts'
import { testDatabase } from './database.ts'
import { assetOf, claimAll, closedStep, ended, findingOf, joined, keyOf, submitted } from './fixtures.ts'

const db = forAllTests(testDatabase)
let workerId: string
beforeAll(async () => {
  workerId = await joined(db.runStore)
})

const finding = (name: string, changes: Partial<FindingContent> = {}): FindingContent =>
  findingOf({ vuln_info: name, vuln_title: name, asset_value: `https://${name}.example`, ...changes })

const found = (items: FindingContent[], changes: Partial<FoundRecords> = {}): FoundRecords => ({
  step: 'import',
  workspace: 'w',
  source: 'workflow',
  records: { kind: 'vulnerability', items },
  errors: 0,
  ...changes,
})

interface Scan {
  readonly sees: readonly FoundRecords[]
  readonly steps?: Parameters<typeof closedStep>[1][]
  readonly status?: 'completed' | 'failed'
  readonly job?: Parameters<typeof submitted>[1]
  readonly target?: string
  readonly workspace?: string
}

const claimOne = async (job: Scan['job'] = {}, target = 'a.test', workspace = 'w'): Promise<ClaimedRun> => {
  await submitted(db.store, job, [{ target, workspace }])
  const [run] = await claimAll(db.store, db.runStore, workerId)
  if (run === undefined) throw new Error('nothing claimed')
  return run
}

const judge = () => db.store.scans.judge({ limit: 100, history: 3 })

/** Executes a run and judges its scans. */
const scan = async ({
  sees,
  steps = [],
  status = 'completed',
  job,
  target,
  workspace,
}: Scan): Promise<number> => {
  const run = await claimOne(job, target, workspace)
  for (const records of sees) expect(await db.runStore.importRecords(keyOf(run), records)).toBeDefined()
  await db.runStore.record([{ ...keyOf(run), steps: steps.map((change, n) => closedStep(n + 1, change)) }])
  expect(await db.runStore.finish([ended(run, status)])).toEqual([])
  await judge()
  return run.runId
}

const listed = async (workspace: string) =>
  (await db.store.vulnerabilities.list({ workspace: [workspace] }, { offset: 0, limit: 100 })).data

const states = async (workspace = 'w'): Promise<Record<string, string>> => {
  const pairs = (await listed(workspace)).map(({ vuln_info, state }): [string, string] => [vuln_info, state])
  return Object.fromEntries(pairs.sort())
}

describe('judging scans', () => {
  test('A finding that a later scan of its scope does not see is gone, and a new sighting reopens it with an event', async () => {
    await scan({ sees: [found([finding('a'), finding('b')])] })
    expect(await states()).toEqual({ a: 'open', b: 'open' })
    const second = await scan({ sees: [found([finding('b')])] })
    expect(await states()).toEqual({ a: 'gone', b: 'open' })
    const [a] = (await db.store.vulnerabilities.list({ state: 'gone' }, { offset: 0, limit: 1 })).data
    expect(a).toMatchObject({ gone_at: expect.any(String), times_seen: 1 })
    const third = await scan({ sees: [found([finding('a'), finding('b', { severity: 'low' })])] })
    expect(await states()).toEqual({ a: 'open', b: 'open' })
    const events = (await db.store.events.list({ topic: 'vuln.found' }, { offset: 0, limit: 10 })).data
    expect(events.map(({ data }) => (JSON.parse(data) as { reopened: boolean }).reopened)).toEqual([
      true,
      false,
      false,
    ])
    expect(events[0]).toMatchObject({ source: 'executor', workflow_name: 'probe', workspace: 'w' })

    const { vulnerabilities } = await db.store.scans.compare(second, third, { limit: 10 })
    expect(vulnerabilities).toMatchObject({
      new: [{ before: null, after: { vuln_info: 'a' } }],
      gone: [],
      changed: [{ before: { severity: 'high' }, after: { severity: 'low' } }],
      total_new: 1,
      total_changed: 1,
    })
    const back = await db.store.scans.compare(third, second, { limit: 10 })
    expect(back.vulnerabilities).toMatchObject({ new: [], total_gone: 1, total_changed: 1 })
  })

  test('Findings of hosts and files that a scan could not look at stay open', async () => {
    const workspace = 'unread'
    const file = (name: string, line: number) =>
      finding(name, { asset_type: 'file', asset_value: `src/${name}.py:${line}` })
    const all = [finding('a'), finding('b'), file('c', 1), file('d', 1)]
    await scan({ sees: [found(all, { workspace })] })
    const failed = { hosts: ['http://a.example/x'], files: ['src/c.py'] }
    await scan({ sees: [found([], { workspace, failed, reached: undefined })] })
    expect(await states(workspace)).toEqual({ a: 'open', b: 'gone', c: 'open', d: 'gone' })
    await scan({ sees: [found([], { workspace })] })
    expect(await states(workspace)).toEqual({ a: 'gone', b: 'gone', c: 'gone', d: 'gone' })
  })

  test.each<[string, Omit<Scan, 'sees'>, Partial<FoundRecords>]>([
    ['the run failed', { status: 'failed' }, {}],
    ['a step failed, though the run went on', { steps: [{ status: 'failed', exitCode: 1 }] }, {}],
    ['packets of a step were not sent', { steps: [{ errorMessage: 'blocked: 1 packet was not sent' }] }, {}],
    ['records could not be used', {}, { errors: 1 }],
    ['another step imported', {}, { step: 'other' }],
    ['it was another target', { target: 'other.test' }, {}],
    ['it was another workflow', { job: { workflowName: 'other' } }, {}],
    ['it had other params', { job: { params: { ports: '22' } } }, {}],
  ])('A finding stays open when %s', async (name, how, changes) => {
    const workspace = `stays ${name}`
    await scan({ sees: [found([finding('x')], { workspace })] })
    await scan({ sees: [found([], { workspace, ...changes })], ...how })
    expect(await states(workspace)).toEqual({ x: 'open' })
  })

  test('A scan that names the hosts that it reached closes findings on these hosts only', async () => {
    const workspace = 'reach'
    const named = ['a', 'b', 'c'].map((name) => finding(name))
    const last = (...reached: string[]) => found([], { workspace, reached })
    await scan({
      sees: [found([...named, finding('a2', { asset_value: 'http://A.example:8080/x' })], { workspace })],
    })
    await scan({ sees: [last()] })
    expect(await states(workspace)).toEqual({ a: 'open', a2: 'open', b: 'open', c: 'open' })
    // The list may be in one of several imports of the step, and the step may see another finding on a host of the list.
    const sees = [
      last('http://a.example/'),
      found([finding('b2', { asset_value: 'b.example:22/udp' })], { workspace }),
    ]
    await scan({ sees })
    expect(await states(workspace)).toEqual({ a: 'gone', a2: 'gone', b: 'gone', b2: 'open', c: 'open' })
    await scan({ sees: [found([], { workspace })] })
    expect(await states(workspace)).toMatchObject({ b2: 'gone', c: 'gone' })
  })

  test('A scope has only the params that its step names', async () => {
    const workspace = 'scoped'
    const at = (rate: string, scope: Record<string, string>, items: FindingContent[]): Scan => ({
      sees: [found(items, { workspace, scope })],
      job: { params: { ...scope, rate } },
    })
    await scan(at('1', { ports: '22' }, [finding('x')]))
    await scan(at('2', { ports: '80' }, []))
    expect(await states(workspace)).toEqual({ x: 'open' })
    await scan(at('2', { ports: '22' }, []))
    expect(await states(workspace)).toEqual({ x: 'gone' })
  })

  test('Several imports of a finding in one run count as one sighting', async () => {
    const workspace = 'counted'
    await scan({ sees: [found([finding('x')], { workspace }), found([finding('x')], { workspace })] })
    const last = await scan({ sees: [found([finding('x')], { workspace })] })
    const [x] = (await db.store.vulnerabilities.list({ workspace: [workspace] }, { offset: 0, limit: 1 }))
      .data
    const run = await db.store.runs.find(String(last))
    expect(x).toMatchObject({ times_seen: 2, run_uuid: run?.run_uuid, first_run_uuid: expect.any(String) })
    expect(x?.first_run_uuid).not.toBe(x?.run_uuid)
  })
})

describe('the proof of a scan', () => {
  const modules = [
    { name: 'ports' },
    { name: 'web', depends_on: ['ports'] },
    { name: 'tls', depends_on: ['ports'] },
    { name: 'deep', depends_on: ['web'] },
  ]
  const flow = {
    workflow: { hash: 'hash-of-proof', json: JSON.stringify({ format: 1, root: { modules }, modules: {} }) },
  }
  const workspaceOf = (name: string) => `proof ${name}`
  const by = (
    workspace: string,
    module: string,
    items: FindingContent[],
    changes: Partial<FoundRecords> = {},
  ) => found(items, { workspace, step: `${module}/record`, source: 'nmap', ...changes })
  const row = (module: string, name: string, changes: Parameters<typeof closedStep>[1] = {}) => ({
    module,
    name,
    ...changes,
  })
  const seenOf = async (workspace: string): Promise<Record<string, [string, string]>> =>
    Object.fromEntries(
      (await listed(workspace)).map((one): [string, [string, string]] => [
        one.vuln_info,
        [one.seen, one.seen_reason],
      ]),
    )
  const at = (name: string, place: string) => finding(name, { asset_type: 'network', asset_value: place })

  test('A module whose steps ended well closes findings although another module and the run failed', async () => {
    const workspace = workspaceOf('module')
    const target = 'module.test'
    const file = finding('f', { asset_type: 'file', asset_value: 'My dir/ä.py:3' })
    const entry = finding('p', { asset_type: 'package', asset_value: 'my.lock:p@1' })
    const first = await scan({
      job: flow,
      target,
      workspace,
      sees: [by(workspace, 'web', [finding('w'), file, entry]), by(workspace, 'tls', [finding('t')])],
    })
    const run = await scan({
      job: flow,
      target,
      workspace,
      sees: [by(workspace, 'web', []), by(workspace, 'tls', [])],
      steps: [
        row('web', 'record'),
        row('tls', 'check', { status: 'failed', errorMessage: 'sslscan could\nnot start' }),
        row('tls', 'record'),
      ],
      status: 'failed',
    })
    expect(await seenOf(workspace)).toEqual({
      w: ['gone', `nmap script w of module web reached w.example in run ${run}`],
      f: ['gone', `nmap script f of module web reached My dir/ä.py in run ${run}`],
      p: ['gone', `nmap script p of module web reached my.lock:p@1 in run ${run}`],
      t: ['not_tested', `module tls in run ${run}: step check failed: sslscan could not start`],
    })
    const { vulnerabilities } = await db.store.scans.compare(first, run, { limit: 10 })
    expect(vulnerabilities).toMatchObject({ total_gone: 3 })
    const failing = (errorMessage: string) => {
      const steps = [row('tls', 'check', { status: 'failed', errorMessage })]
      return scan({ job: flow, target, workspace, sees: [by(workspace, 'web', [])], steps })
    }
    const since = (await seenOf(workspace))['t']
    await failing('sslscan could not start')
    expect((await seenOf(workspace))['t']).toEqual(since)
    const other = await failing('cancelled')
    expect((await seenOf(workspace))['t']?.[1]).toBe(
      `module tls in run ${other}: step check failed: cancelled`,
    )
  })

  test.each<[string, ReturnType<typeof row>, string]>([
    ['a module that it depends on failed', row('ports', 'scan', { status: 'failed' }), 'not_tested'],
    [
      'a module that it depends on was left out',
      row('web', 'record', { status: 'skipped', errorMessage: 'the module is left out: no httpx' }),
      'not_tested',
    ],
    ['a module that it does not depend on failed', row('tls', 'check', { status: 'failed' }), 'gone'],
    ['a step of the same module was skipped', row('deep', 'extra', { status: 'skipped' }), 'gone'],
    ['a hook of the flow failed', row('', 'hook', { status: 'failed' }), 'not_tested'],
  ])('A scan closes only with the modules before it: %s', async (name, step, seen) => {
    const workspace = workspaceOf(name)
    const target = `${name}.test`
    const job = { target, workspace, job: flow }
    await scan({ ...job, sees: [by(workspace, 'deep', [finding('d')])] })
    await scan({ ...job, sees: [by(workspace, 'deep', [])], steps: [step] })
    expect((await seenOf(workspace))['d']?.[0]).toBe(seen)
  })

  test('Places that an import names as not tested stay, and explain failed steps of the module and of those after it', async () => {
    const workspace = workspaceOf('places')
    const job = { target: 'places.test', workspace, job: flow }
    const places = [
      'h:21',
      'h:443',
      'https://h/x',
      'http://h:80/y',
      'h',
      'h:53',
      'h:53/udp',
      '[::1]:21',
      'other:21',
    ]
    const all = (module: string) => places.map((place) => at(`${module} ${place}`, place))
    await scan({ ...job, sees: [by(workspace, 'web', all('web')), by(workspace, 'deep', all('deep'))] })
    const failed = {
      hosts: [],
      files: [],
      places: [
        { place: 'h:21', reason: '530 Please log in' },
        { place: 'http://H/', reason: '' },
        { place: 'h:53/udp', reason: 'silent' },
        { place: '[::1]:21', reason: 'hung up' },
      ],
    }
    const run = await scan({
      ...job,
      sees: [
        by(workspace, 'web', [], { failed, namesUntested: true, reached: ['h', '::1'] }),
        by(workspace, 'deep', [], { reached: ['h', '::1'] }),
      ],
      steps: [row('web', 'check', { status: 'failed' })],
    })
    const seen = await seenOf(workspace)
    for (const module of ['web', 'deep']) {
      const states = Object.entries(seen).flatMap(([name, [state]]) =>
        name.startsWith(`${module} `) ? [[name.slice(module.length + 1), state]] : [],
      )
      expect(Object.fromEntries(states)).toEqual({
        'h:21': 'not_tested',
        'h:443': 'gone',
        'https://h/x': 'gone',
        'http://h:80/y': 'not_tested',
        h: 'gone',
        'h:53': 'gone',
        'h:53/udp': 'not_tested',
        '[::1]:21': 'not_tested',
        'other:21': 'unreachable',
      })
    }
    expect(seen['web h:21']?.[1]).toBe(`module web in run ${run} did not test h:21: 530 Please log in`)
    expect(seen['deep other:21']?.[1]).toBe(`module deep in run ${run} did not reach other`)
  })

  test('What did not answer is unreachable, for a scan, for later modules and for those that did not run', async () => {
    const workspace = workspaceOf('silent')
    const job = { target: 'silent.test', workspace, job: flow }
    const places = [
      'http://H',
      'h:443',
      'https://h',
      'h:8080',
      'h:9000',
      'h:53/udp',
      'h:53',
      'up:80',
      '[::1]:22',
      'off:80',
    ]
    const all = (module: string) => places.map((place) => at(`${module} ${place}`, place))
    await scan({ ...job, sees: [by(workspace, 'web', all('web')), by(workspace, 'deep', all('deep'))] })
    const failed = {
      hosts: [],
      files: [],
      places: [
        { place: 'h', ports: '{[1,80],[8000,8999]}', reason: 'dropped', silent: true },
        { place: 'h/udp', ports: '{[53,53]}', reason: 'dropped', silent: true },
        { place: '[::1]', ports: '{[20,25]}', reason: 'dropped', silent: true },
        { place: 'off', reason: 'it is off', silent: true },
        { place: 'h:443', reason: 'it hung up' },
      ],
    }
    const run = await scan({
      ...job,
      sees: [by(workspace, 'web', [], { failed, namesUntested: true, reached: ['h', '::1', 'up'] })],
      steps: [row('web', 'check', { status: 'failed' }), row('deep', 'check', { status: 'skipped' })],
    })
    const seen = await seenOf(workspace)
    const statesOf = (module: string) => places.map((place) => seen[`${module} ${place}`]?.[0])
    const silent = 'unreachable'
    expect(statesOf('web')).toEqual([
      silent,
      'not_tested',
      'not_tested',
      silent,
      'gone',
      silent,
      silent,
      'gone',
      silent,
      silent,
    ])
    expect(statesOf('deep')).toEqual([
      silent,
      'not_tested',
      'not_tested',
      silent,
      'not_tested',
      silent,
      silent,
      'not_tested',
      silent,
      silent,
    ])
    expect(seen['web h:8080']?.[1]).toBe(`module web in run ${run} did not reach h:8080: dropped`)
    expect(seen['deep h:53/udp']?.[1]).toBe(`module deep in run ${run} did not reach h:53/udp: dropped`)
    expect(seen['deep off:80']?.[1]).toBe(`module deep in run ${run} did not reach off: it is off`)
    expect(seen['deep up:80']?.[1]).toBe(`module deep in run ${run}: step check was skipped`)
  })

  test('Findings at a port that a scan finds closed are gone, also those of modules that had nothing to do there', async () => {
    const workspace = workspaceOf('closed')
    const job = { target: 'closed.test', workspace, job: flow }
    const ports = (reached: string[], open: number[], places: NotTested[] = []): FoundRecords => ({
      ...by(workspace, 'web', []),
      records: {
        kind: 'asset',
        items: [
          ...reached.map((host) =>
            assetOf({ asset_type: 'ip', asset_value: host, open_ports: open.map(String) }),
          ),
          ...open.map((port) => assetOf({ asset_type: 'port', asset_value: `h:${port}` })),
        ],
      },
      reached,
      failed: { hosts: [], files: [], places },
    })
    const deep = ['http://H/.env', 'h:8080', 'h:9000', 'h:22', 'other:80', 'h:80/udp'].map((place) =>
      at(place, place),
    )
    const urls = ['http://h/', 'http://h:9000/', 'http://other/'].map((url) =>
      assetOf({ asset_value: url, url }),
    )
    const pages = { ...by(workspace, 'deep', []), records: { kind: 'asset' as const, items: urls } }
    const portsOf = async (name: string) => {
      const { data } = await db.store.assets.list({ workspace: [workspace] }, { offset: 0, limit: 99 })
      return data.find(({ asset_type: type, asset_value: value }) => type === 'ip' && value === name)
        ?.open_ports
    }
    const urlsThat = async (state: 'open' | 'gone') => {
      const { data } = await db.store.assets.list({ workspace: [workspace], state }, { offset: 0, limit: 99 })
      return data.flatMap(({ url }) => (url === '' ? [] : url)).sort()
    }
    await scan({ ...job, sees: [ports(['h'], [22, 80, 8080, 9000]), by(workspace, 'deep', deep), pages] })
    await scan({ ...job, sees: [ports([], [])], steps: [row('deep', 'check', { status: 'skipped' })] })
    expect(Object.values(await seenOf(workspace)).map(([seen]) => seen)).toEqual(deep.map(() => 'not_tested'))
    const silent = [{ place: 'h:9000', reason: 'dropped', silent: true }]
    const run = await scan({
      ...job,
      sees: [ports(['h'], [22], silent)],
      steps: [row('deep', 'check', { status: 'skipped' })],
    })
    const closed = (place: string) => ['gone', `module web in run ${run} found ${place} closed`]
    expect(await seenOf(workspace)).toMatchObject({
      'http://H/.env': closed('h:80'),
      'h:8080': closed('h:8080'),
      'h:9000': ['unreachable', expect.any(String)],
      'h:22': ['not_tested', expect.any(String)],
      'other:80': ['not_tested', expect.any(String)],
      'h:80/udp': ['not_tested', expect.any(String)],
    })
    expect([await urlsThat('gone'), await urlsThat('open')]).toEqual([
      ['http://h/'],
      ['http://h:9000/', 'http://other/'],
    ])
    await scan({ ...job, sees: [ports(['h'], [22, 8080]), by(workspace, 'deep', [at('h:8080', 'h:8080')])] })
    expect((await seenOf(workspace))['h:8080']?.[0]).toBe('open')
    await scan({ ...job, sees: [ports(['h'], [22, 80]), pages] })
    expect(await urlsThat('open')).toContain('http://h/')

    // A report without open ports does not say that there are none: only the closed ones leave the host.
    expect(await portsOf('h')).toEqual(['22', '80'])
    await scan({ ...job, sees: [ports(['h'], [], [{ place: 'h:80', reason: 'dropped', silent: true }])] })
    expect(await portsOf('h')).toEqual(['80'])
    await scan({ ...job, sees: [ports(['h'], [22, 80])] })
    expect(await portsOf('h')).toEqual(['22', '80'])
  })

  test('One check that was not tested at a place leaves the other checks there', async () => {
    const workspace = workspaceOf('check')
    const job = { target: 'check.test', workspace, job: flow }
    const cve = finding('CVE-2020-1', { asset_value: 'http://h:80/a', tags: ['nmap', 'http-x'] })
    await scan({
      ...job,
      sees: [by(workspace, 'web', [at('http-x', 'h:80'), at('http-y', 'h:80'), at('http-x-2', 'h:81'), cve])],
    })
    const places = [{ place: 'h:80', check: 'http-x', reason: 'Script execution failed' }]
    const run = await scan({
      ...job,
      sees: [by(workspace, 'web', [], { failed: { hosts: [], files: [], places } })],
    })
    const reason = `module web in run ${run} did not test check http-x at h:80: Script execution failed`
    expect(await seenOf(workspace)).toMatchObject({
      'http-x': ['not_tested', reason],
      'CVE-2020-1': ['not_tested', reason],
      'http-y': ['gone', expect.any(String)],
      'http-x-2': ['gone', expect.any(String)],
    })
  })

  test('Findings of steps that did not run in a later run are not tested, if the run had the same scope', async () => {
    const workspace = workspaceOf('removed')
    const job = { target: 'removed.test', workspace, job: flow }
    const of = (module: string, scope: Record<string, string> = {}) =>
      by(workspace, module, [finding(`${module}${scope['severity'] ?? ''}`)], { scope })
    await scan({ ...job, sees: [of('web'), of('tls'), of('tls', { severity: 'high' }), of('deep')] })
    const run = await scan({
      ...job,
      sees: [of('web')],
      steps: [row('tls', 'check', { status: 'failed', errorMessage: 'no route' })],
    })
    expect(await seenOf(workspace)).toEqual({
      web: ['open', ''],
      tls: ['not_tested', `module tls in run ${run}: step check failed: no route`],
      tlshigh: ['open', ''],
      deep: ['not_tested', `module deep in run ${run}: it did not run`],
    })
  })

  test('A run without any import marks what it should have tested, in the scope that its params fit best', async () => {
    const workspace = workspaceOf('nothing')
    const job = { target: 'nothing.test', workspace }
    const of = (scope: Record<string, string>) =>
      by(workspace, 'web', [finding(`w${Object.values(scope).join('')}`)], { scope })
    await scan({ ...job, job: flow, sees: [of({}), of({ ports: '22' })] })
    await scan({
      ...job,
      job: { ...flow, params: { ports: '22' } },
      sees: [],
      steps: [row('ports', 'scan', { status: 'failed' })],
      status: 'failed',
    })
    expect(await seenOf(workspace)).toMatchObject({
      w: ['open', ''],
      w22: ['not_tested', expect.any(String)],
    })
    await scan({ ...job, job: { ...flow, params: {} }, sees: [], status: 'failed' })
    expect(await seenOf(workspace)).toMatchObject({ w: ['not_tested', expect.any(String)] })
  })
})

describe('the fence', () => {
  test('Reads and writes of a lost attempt are refused', async () => {
    const run = await claimOne()
    const zombie = { runId: run.runId, attempt: run.attempt - 1 }
    const workspace = 'fenced'
    expect(await db.runStore.importRecords(zombie, found([finding('z')], { workspace }))).toBeUndefined()
    expect(
      await db.runStore.readRecords(zombie, { kind: 'vulnerability', workspace, filter: {}, limit: 1 }),
    ).toBeUndefined()
    expect(await db.runStore.readRuns(zombie, { workspace, runUuid: '', limit: 1 })).toBeUndefined()
    expect(await db.runStore.addToCounter(zombie, { workspace, name: 'urls', add: 1 })).toBeUndefined()
    await db.runStore.finish([ended(run)])
    expect(await db.runStore.importRecords(keyOf(run), found([finding('z')], { workspace }))).toBeUndefined()
    expect(await states(workspace)).toEqual({})
  })
})

describe('reads of a run', () => {
  test('A list of records ends before its text exceeds the limit', async () => {
    const workspace = 'long'
    const run = await claimOne({}, 'a.test', workspace)
    const names = Array.from({ length: 40 }, (_, n) => `long-${n}`)
    await db.runStore.importRecords(
      keyOf(run),
      found(
        names.map((name) => finding(name)),
        { workspace },
      ),
    )
    await db.sql(`update vulnerabilities set vuln_desc = repeat('x', 1048576) where workspace = 'long'`)
    const query = { kind: 'vulnerability', workspace, filter: {}, limit: 10_000 } as const
    expect(await db.runStore.readRecords(keyOf(run), query)).toHaveLength(31)
    await db.runStore.finish([ended(run)])
  })

  test('Records can be filtered, and counters add up', async () => {
    const workspace = 'read'
    const run = await claimOne({}, 'a.test', workspace)
    const key = keyOf(run)
    await db.runStore.importRecords(
      key,
      found([finding('p'), finding('q', { severity: 'low' })], { workspace }),
    )
    const read = async (filter: Record<string, string>) =>
      (await db.runStore.readRecords(key, { kind: 'vulnerability', workspace, filter, limit: 9 }))
        ?.map(({ vuln_info }) => vuln_info)
        .sort()
    expect(await read({})).toEqual(['p', 'q'])
    expect(await read({ severity: 'LOW, critical' })).toEqual(['q'])
    expect(await read({ asset_value: 'P.EX' })).toEqual(['p'])
    expect(await read({ first_seen_run: run.runUuid })).toEqual(['p', 'q'])
    expect(await read({ first_seen_run: 'x' })).toEqual([])
    expect(await db.runStore.readRuns(key, { workspace, runUuid: run.runUuid, limit: 5 })).toMatchObject([
      { run_uuid: run.runUuid, status: 'running' },
    ])
    const count = (add: number | 'reset') => db.runStore.addToCounter(key, { workspace, name: 'urls', add })
    expect([await count(2), await count(3), await count('reset')]).toEqual([2, 5, 0])
    await db.runStore.finish([ended(run)])
  })
})

describe('the history', () => {
  test('The history of a scope is kept for its latest runs', async () => {
    const runs: number[] = []
    for (let n = 0; n < 5; n++)
      runs.push(
        await scan({ sees: [found([finding('x')], { workspace: 'history' })], job: { workflowName: 'h' } }),
      )
    const kept = await db.sql<{ id: string }>('select distinct run_id as id from observations order by 1')
    const ids = kept.rows.map(({ id }) => Number(id))
    expect(runs.filter((id) => ids.includes(id))).toEqual(runs.slice(2))
  })

  test('The changes of a workspace are listed by time', async () => {
    const workspace = 'changes'
    const from = new Date(Date.now() - 60_000)
    await scan({ sees: [found([finding('x'), finding('y')], { workspace })] })
    await scan({ sees: [found([finding('y')], { workspace })] })
    const options = { from, to: new Date(Date.now() + 1_000), limit: 10 }
    const changes = await db.store.scans.changes('vulnerability', workspace, options)
    expect(changes).toMatchObject({
      new: [{ after: { vuln_info: 'y' } }],
      gone: [{ before: { vuln_info: 'x' }, after: null }],
      total_changed: 0,
    })
  })
})

test('Lists of changes end at their limit of bytes, and the totals count all changes', async () => {
  const tags = Array.from({ length: 250 }, () => 'x'.repeat(250))
  const large = (n: number) => finding(`large${n}`, { tags })
  const first = await scan({ sees: [found([])], target: 'large.test' })
  const second = await scan({
    sees: [found(Array.from({ length: 60 }, (_, n) => large(n)))],
    target: 'large.test',
  })
  const { vulnerabilities: diff } = await db.store.scans.compare(first, second, { limit: 100 })
  expect(diff.total_new).toBe(60)
  expect(diff.new.length).toBeGreaterThan(20)
  expect(JSON.stringify(diff).length).toBeLessThan(2.2 * 1024 * 1024)
  const times = { from: new Date(0), to: new Date(Date.now() + 60_000), limit: 1_000 }
  const changes = await db.store.scans.changes('vulnerability', 'w', times)
  expect(changes.total_new).toBeGreaterThanOrEqual(60)
  expect(changes.new.length).toBeGreaterThan(20)
  expect(JSON.stringify(changes.new).length).toBeLessThan(2.2 * 1024 * 1024)
})
