import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobStatus, Run, RunsCreated, Step } from '@scanfarm/contracts'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runProgram } from '../src/index.ts'
import { captureTerminal, runCaptured } from './captured-terminal.ts'
import { TestCluster, TOKEN } from './cluster/test-cluster.ts'

const START_MS = 300_000

let folder = ''
let cluster: TestCluster
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-cli-'))
  cluster = await TestCluster.start({
    queue: 'postgres',
    workers: 0,
  })
}, START_MS)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
}, START_MS)

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, piped?: string) =>
  runCaptured(
    args,
    {
      SCANFARM_DATA_DIR: folder,
      SCANFARM_URL: cluster.client.url,
      SCANFARM_TOKEN: TOKEN,
      ...env,
    },
    piped,
  )

const parsed = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await run([...args, '--json'])).out) as T

test('open starts a browser with an address that is no secret, and leads to the link', async () => {
  const browser = `#!/bin/sh
echo "$@" > ${folder}/address
curl -s -o /dev/null -w '%header{location}' "$1" > ${folder}/location
`
  writeFileSync(join(folder, 'xdg-open'), browser, { mode: 0o755 })
  const env = { DISPLAY: ':0', PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  expect(await run(['open'], env)).toEqual({ code: 0, out: '', err: '' })
  expect(readFileSync(join(folder, 'address'), 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\n$/)
  const { origin } = new URL(cluster.client.url)
  expect(readFileSync(join(folder, 'location'), 'utf8')).toMatch(`${origin}/login#code=`)
})

test('runs suggests a scan of this machine to an empty farm, and only to it', async () => {
  expect((await run(['runs'])).out).toMatch(/\n.*scanfarm run -f baseline -t 127\.0\.0\.1 --wait\n$/)
  expect((await run(['runs', '--status', 'failed'])).out).not.toContain('baseline')
  expect(await parsed('runs')).toMatchObject({ data: [] })
})

describe('starting runs', () => {
  test('run --wait starts a run and waits for it, and run show prints it', async () => {
    const { code, err } = await run(['run', '-m', 'noop', '-t', 'example.com', '--wait'])
    expect(err).toMatch(/\[#+\] 1\/1 {2}1 completed\n$/)
    expect(code).toBe(0)
    const { data } = await parsed<{ data: Run[] }>('runs', '--target', 'example.com')
    expect(data).toHaveLength(1)
    const shown = await run(['runs', 'show', String(data[0]?.id)])
    expect(shown.out).toMatch(/^status +completed$/m)
    // Fields without a value are left out.
    expect(shown.out).not.toMatch(/^\w+ *(?:\[\]|\{\})?$/m)
    expect((await run(['steps', String(data[0]?.id)])).out).toMatch(/nothing +bash +completed +0/)
  })

  test('run -T uploads the file of targets before it starts the job', async () => {
    const file = join(folder, 'targets.txt')
    writeFileSync(file, 'a.example\nb.example\n# no target\na.example\n')
    const created = await parsed<RunsCreated>('run', '-m', 'noop', '-T', file, '--concurrency', '2')
    expect(created).toMatchObject({ target_count: 2, status: 'queued' })
    const { code, out } = await run(['job', created.job_id, '--wait', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out) as JobStatus).toMatchObject({ total_runs: 2, completed: 2 })
    expect((await run(['job', created.job_id])).out).toMatch(/2\/2 {2}2 completed\n[^]*a\.example/)
  })

  test('jobs lists jobs; job priority and job retry change one', async () => {
    const job = ['run', '-m', 'noop', '-t', 'r.example', '-t', 's.example', '--mode', 'distributed']
    const created = await parsed<RunsCreated>(...job, '--priority', 'low')
    const { out } = await run(['job', 'priority', created.job_id, 'high'])
    expect(out).toMatch(/^changed +2$/m)
    expect((await run(['jobs', '--status', 'open'])).out).toMatch(
      new RegExp(`^${created.job_id} +open +2 +0 .*noop`, 'm'),
    )
    const { data } = await parsed<{ data: JobStatus[] }>(
      'jobs',
      'list',
      '--status',
      'open',
      '--sort',
      'priority',
    )
    expect(data.find(({ job_id: id }) => id === created.job_id)).toMatchObject({ priority: 'high' })
    expect((await run(['job', 'priority', created.job_id, 'urgent'])).code).toBe(2)
    expect((await run(['job', 'retry', created.job_id])).err).toMatch('nothing to retry')
    expect((await run(['jobs', 'show', created.job_id])).out).toContain('0/2')
    await run(['jobs', 'cancel', created.job_id])
    const retry = await parsed<{ job_id: string; runs: number }>('job', 'retry', created.job_id)
    expect(retry.runs).toBe(2)
    expect((await run(['jobs', '--limit', '1'])).out).toMatch(
      new RegExp(`^${retry.job_id} [^]*continue with --cursor`, 'm'),
    )
    expect((await run(['cancel', retry.job_id])).code).toBe(0)
  })

  test('job --wait ends with exit code 1 when a run of the job was cancelled', async () => {
    const created = await parsed<RunsCreated>('run', '-m', 'noop', '-t', 'c.example', '--mode', 'distributed')
    expect((await run(['cancel', created.job_id])).code).toBe(0)
    const { code, err } = await run(['jobs', created.job_id, '--wait'])
    expect(code).toBe(1)
    expect(err).toMatch('1 of 1 run did not complete')
  })

  test('run takes targets from -t and a file together, and from standard input if none are named', async () => {
    const file = join(folder, 'more.txt')
    writeFileSync(file, 'f.example\ng.example\n')
    expect(await parsed<RunsCreated>('run', '-m', 'noop', '-t', 'h.example', '-T', file)).toMatchObject({
      target_count: 3,
    })
    const piped = await run(['run', '-m', 'noop', '--json'], {}, 'i.example\nj.example\n')
    expect(JSON.parse(piped.out)).toMatchObject({ target_count: 2 })
  })

  test('run refuses a file that does not exist or is empty', async () => {
    const missing = await run(['run', '-m', 'noop', '-t', './no-such-list.txt'])
    expect([missing.code, missing.err]).toEqual([2, 'scanfarm: ./no-such-list.txt does not exist\n'])
    const file = join(folder, 'empty.txt')
    writeFileSync(file, '')
    const empty = await run(['run', '-m', 'noop', '-t', file])
    expect([empty.code, empty.err]).toEqual([2, `scanfarm: ${file} is empty\n`])
  })

  test('commands use the port of the settings if no address is set', async () => {
    const { port } = new URL(cluster.client.url)
    const terminal = captureTerminal({
      SCANFARM_DATA_DIR: folder,
      SCANFARM_HTTP_PORT: port,
      SCANFARM_TOKEN: TOKEN,
    })
    expect(await runProgram(['workers'], terminal)).toBe(0)
  })

  test('run --dry-run prints the request with its fields and params, and does not send it', async () => {
    const file = join(folder, 'params.yaml')
    writeFileSync(file, 'word: hello\nrate: 5\n')
    const before = (await parsed<{ data: Run[] }>('runs', '--limit', '1000')).data.length
    const options = ['-P', file, '-p', 'rate=6', '-S', 'mine', '-c', '2', '--timeout', '2h']
    const tuned = ['-x', 'a', '-x', 'b', '-X', 'scan', '-B', 'gently', '--threads-hold', '3']
    const dry = await run(['run', '-m', 'noop', '-t', 'k.example', ...options, ...tuned, '--dry-run'])
    expect(JSON.parse(dry.out)).toEqual({
      module: 'noop',
      target: 'k.example',
      params: {
        word: 'hello',
        rate: '6',
        exclude_modules: 'a,b',
        fuzzy_exclude_modules: 'scan',
        tactic: 'gently',
        threads_hold: '3',
      },
      workspace: 'mine',
      concurrency: 2,
      timeout: 120,
    })
    expect(dry.err).toContain('nothing was sent')
    expect((await parsed<{ data: Run[] }>('runs', '--limit', '1000')).data).toHaveLength(before)
    const unknown = await run(['run', '-m', 'no-such', '-t', 'k.example', '--dry-run'])
    expect(unknown).toMatchObject({ code: 5, err: expect.stringContaining('no-such') })
    expect(await run(['run', '-f', 'noop', '-t', 'k.example', '--dry-run'])).toMatchObject({ code: 5 })
    const odd = await run(['run', '-m', 'noop', '-t', 'k.example', '--timeout', '90s'])
    expect(odd).toMatchObject({ code: 2, err: expect.stringContaining('whole minutes') })
  })

  test('run starts several modules one after the other, and requires --wait for this', async () => {
    const args = ['run', '-m', 'noop', '-m', 'noop', '-t', 'l.example']
    expect(await run(args)).toMatchObject({ code: 2, err: expect.stringContaining('add --wait') })
    const { code, out } = await run([...args, '--wait', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject([{ completed: 1 }, { completed: 1 }])
    const { data } = await parsed<{ data: Run[] }>('runs', '--target', 'l.example')
    const [second, first] = data
    expect(Date.parse(second?.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.completed_at ?? ''))
  })

  test('run uploads a file that is given as the target, and the steps of the run can read it', async () => {
    const workflow = join(folder, 'count-lines.yaml')
    writeFileSync(
      workflow,
      `kind: module
name: count-lines
dependencies: {target_types: [file]}
steps:
  - {name: count, type: bash, command: 'wc -l < {{Target}}'}
  - {name: read, type: function, function: 'log_info(read_file("{{Target}}"))'}
  - {name: kind, type: bash, command: 'echo {{TargetType}} {{TargetRootDomain}} # ${'x'.repeat(300)}'}
`,
    )
    expect((await run(['upload', '--workflow', workflow])).code).toBe(0)
    const list = join(folder, 'my_list.txt')
    writeFileSync(list, 'one\ntwo\n')
    const { code, err } = await run(['run', '-m', 'count-lines', '-t', list, '--wait'])
    const { data } = await parsed<{ data: Run[] }>('runs', '--workflow', 'count-lines')
    const steps = await run(['steps', String(data[0]?.id)])
    expect({ code, err: code === 0 ? '' : err + steps.out }).toEqual({ code: 0, err: '' })
    // Of a long command its beginning.
    expect(steps.out).toMatch(/echo file my-list-file # x{50,100}…$/m)
    expect(data).toMatchObject([
      {
        target: expect.stringMatching(/^uploads\/[0-9a-f]{16}-my_list\.txt$/),
        workspace: expect.stringMatching(/^my_list\.txt-[0-9a-f]{12}$/),
      },
    ])
    const kept = await parsed<{ data: Step[] }>('steps', String(data[0]?.id))
    expect(kept.data.map(({ output }) => output.trim())).toEqual([
      '2',
      expect.stringContaining('one\ntwo'),
      'file my-list-file',
    ])
    const lost = await run(['run', '-m', 'count-lines', '-t', 'uploads/0123456789abcdef-gone.txt'])
    expect(lost).toMatchObject({ code: 5, err: expect.stringContaining('is not an existing upload') })
  })

  test('duplicate copies a run, and the copy stays pending until it is started', async () => {
    const { data } = await parsed<{ data: Run[] }>('runs', '--target', 'example.com')
    const copy = await parsed<{ new_run_uuid: string }>('duplicate', String(data[0]?.id))
    expect((await run(['start', copy.new_run_uuid])).out).toMatch(/status +running/)
  })
})

describe('incomplete runs', () => {
  const why = 'module web left out: required command not found: no-such-httpx'

  beforeAll(async () => {
    const file = (name: string, text: string): string => {
      const path = join(folder, `${name}.yaml`)
      writeFileSync(path, `kind: flow\nname: ${name}\n${text}`)
      return path
    }
    const web =
      '{name: web, path: web-probe}\n  - {name: sum, depends_on: [web], steps: [{name: s, type: bash, command: echo 0}]}'
    const module = join(folder, 'web-probe.yaml')
    writeFileSync(
      module,
      'kind: module\nname: web-probe\ndependencies: {commands: [no-such-httpx]}\nsteps: [{name: probe, type: bash, command: no-such-httpx}]\n',
    )
    const closed = `{name: off, condition: 'false', steps: [{name: s, type: bash, command: echo}]}`
    for (const path of [
      module,
      file('half-flow', `modules:\n  - ${web}\n`),
      file('strict-flow', `on_partial: fail\nmodules:\n  - ${web}\n`),
      file('idle-flow', `modules:\n  - ${closed}\n`),
    ])
      expect(await run(['upload', '--workflow', path])).toMatchObject({ code: 0 })
  }, START_MS)

  test('run --wait and job --wait print the reasons of a partial run and end with exit code 3', async () => {
    const { code, err } = await run(['run', '-f', 'half-flow', '-t', 'half.example', '--wait'])
    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringMatching(
        new RegExp(`run \\d+ half\\.example partial: ${why}\n[^]*1 of 1 run completed without doing all`),
      ),
    })
    const { data } = await parsed<{ data: Run[] }>(
      'runs',
      '--outcome',
      'partial,clean',
      '--workflow',
      'half-flow',
    )
    expect(data).toMatchObject([{ target: 'half.example', outcome: 'partial', status: 'completed' }])
    const [found] = data
    const job = ['job', found?.run_group_id ?? '']
    expect((await run([...job, '--wait'])).code).toBe(3)
    expect((await run(job)).out).toMatch(/^completed +partial +\S+ +half\.example$/m)
    const shown = (await run(['run', 'show', String(found?.id)])).out
    expect(shown).toMatch(/^outcome +partial$/m)
    expect(shown).toMatch(new RegExp(`^outcome_reasons +${why}$`, 'm'))
    expect((await run(['runs', '--outcome', 'partial'])).out).toMatch(/completed +partial/)
    expect((await run(['steps', String(found?.id)])).out).toMatch(
      /^web +probe +bash +skipped +\d* +\d+ +the module is left out: required command not found: no-such-httpx/m,
    )
  })

  test('run --wait names at most ten partial runs and prints the command that lists the others', async () => {
    const file = join(folder, 'many.txt')
    writeFileSync(file, Array.from({ length: 12 }, (_, n) => `many-${n}.example\n`).join(''))
    const { code, err } = await run(['run', '-f', 'half-flow', '-T', file, '--wait'])
    expect(code).toBe(3)
    expect(err.match(/run \d+ many-\d+\.example partial/g)).toHaveLength(10)
    const [, words = ''] = /^scanfarm: 2 more: scanfarm (.*)$/m.exec(err) ?? []
    const { data } = await parsed<{ data: Run[] }>(...words.split(' '))
    expect(data).toHaveLength(2)
    const list = words.split(' ').slice(0, -2)
    expect((await run([...list, '--limit', '2', '--offset', '8'])).out).toMatch(
      /\n2 of 12; continue with --offset 10\n$/,
    )
    expect((await run([...list, '--limit', '2', '--offset', '10'])).out).not.toContain('continue with')
  })

  test('run --wait ends with exit code 3 when a run did nothing', async () => {
    const { code, err } = await run(['run', '-f', 'idle-flow', '-t', 'idle.example', '--wait', '--json'])
    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringMatching(
        /run \d+ idle\.example nothing_done: no step was due that does more than write messages\n/,
      ),
    })
  })

  test('a partial run of a workflow with on_partial: fail fails, and its error lists the reasons', async () => {
    const { code } = await run(['run', '-f', 'strict-flow', '-t', 'strict.example', '--wait'])
    expect(code).toBe(1)
    const { data } = await parsed<{ data: Run[] }>('runs', '--status', 'failed', '--target', 'strict.example')
    expect(data).toMatchObject([
      { outcome: 'partial', error_message: `the run did only part of its work: ${why}` },
    ])
  })

  test('exec reports the same outcomes, reasons and exit codes as a server', async () => {
    const local = ['exec', '-W', join(folder, 'out'), '-t', 'local.example']
    const half = await run([...local, join(folder, 'half-flow.yaml')])
    expect(half).toMatchObject({ code: 3, err: expect.stringContaining(`its outcome is partial: ${why}`) })
    const json = await run([...local, '--json', join(folder, 'half-flow.yaml')])
    expect(JSON.parse(json.out)).toMatchObject({
      status: 'completed',
      outcome: 'partial',
      left_out_modules: 1,
      outcome_reasons: [why],
    })
    const talk = join(folder, 'talk.yaml')
    writeFileSync(
      talk,
      'kind: module\nname: talk\nsteps: [{name: s, type: function, function: log_info("hi")}]\n',
    )
    expect(await run([...local, talk])).toMatchObject({
      code: 3,
      err: expect.stringContaining('its outcome is nothing_done: no step was due that does more than write'),
    })
    expect((await run([...local, join(folder, 'strict-flow.yaml')])).code).toBe(1)
    expect((await run([...local, '--dry-run', join(folder, 'half-flow.yaml')])).code).toBe(0)
  })
})

describe('refusals', () => {
  test('a request that the server refuses ends with exit code 5, and the error names the field', async () => {
    const { code, err } = await run(['run', '-m', 'noop', '-t', 'a;b'])
    expect(code).toBe(5)
    expect(err).toMatch(/target[^]*answered 400/)
  })

  test('a wrong token ends with exit code 5, and the error names the setting to change', async () => {
    const { code, err } = await run(['runs'], { SCANFARM_TOKEN: 'wrong' })
    expect(code).toBe(5)
    expect(err).toMatch('set SCANFARM_TOKEN')
  })
})

test('worker drain --pause and worker resume pause and resume the slots of a server, which cannot be stopped', async () => {
  const { data } = await parsed<{ data: { id: string; kind: string }[] }>('workers')
  const id = data.find(({ kind }) => kind === 'server')?.id ?? ''
  const refused = await run(['worker', 'drain', id])
  expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('end with the server') })
  expect((await run(['workers', 'show', id])).out).toMatch(/scopes +(enforced|checked, not enforced: .+)\n/)
  const refusedLater = await run(['workers', 'drain', id, '--for', '2h'])
  expect(refusedLater).toMatchObject({ code: 5, err: expect.stringContaining('end with the server') })
  const unclear = await run(['workers', 'drain', id, '--for', 'soon'])
  expect(unclear).toMatchObject({ code: 2, err: expect.stringContaining('must be a duration like 2h') })
  expect((await run(['workers', 'drain', id, '--for', '2h', '--pause'])).err).toContain('cannot be used with')
  const paused = await run(['worker', 'drain', id, '--pause'])
  expect(paused.out).toMatch(/^message +The worker drains and stays paused$/m)
  expect(paused.out).toMatch(/^status +draining$/m)
  expect((await run(['run', '-m', 'noop', '-t', 'paused.example'])).code).toBe(0)
  const waiting = await parsed<{ data: Run[] }>('runs', '--target', 'paused.example')
  expect(waiting.data[0]?.waiting_reason).toBe('the local slots of every server are paused or draining')
  expect((await run(['worker', 'resume', id])).code).toBe(0)
  expect((await run(['run', '-m', 'noop', '-t', 'resumed.example', '--wait'])).code).toBe(0)
})

test('token creates, lists and removes tokens', async () => {
  const { out } = await run(['token', 'create', 'reader', '--role', 'viewer', '--days', '1'])
  const token = out.trim()
  expect((await run(['workers'], { SCANFARM_TOKEN: token })).out).toMatch(/NAME +KIND[^]*server/)
  expect((await run(['run', '-m', 'noop', '-t', 'x'], { SCANFARM_TOKEN: token })).err).toMatch('higher role')
  expect((await run(['token', 'list'])).out).toMatch(/viewer +\S+ +\S+ +reader/)
  expect((await run(['token', 'remove', 'reader'])).code).toBe(0)
  expect((await run(['workers'], { SCANFARM_TOKEN: token })).code).toBe(5)
})

test('workflows lists the workflows, and artifacts -d writes no file outside of its folder', async () => {
  expect((await run(['workflows', '--search', 'noop'])).out).toMatch(/noop +module +yes/)
  const { data } = await parsed<{ data: Run[] }>('runs', '--limit', '1')
  const into = join(folder, 'artifacts')
  const { code, out } = await run(['artifacts', String(data[0]?.id), '-d', into])
  const occupied = join(folder, 'occupied')
  writeFileSync(occupied, '')
  expect(await run(['artifacts', String(data[0]?.id), '-d', occupied])).toMatchObject({
    code: 1,
    err: `scanfarm: ${occupied} cannot be written: it exists already\n`,
  })
  expect(await run(['artifacts', String(data[0]?.id), '-d', '/proc/scanfarm'])).toMatchObject({
    code: 1,
    err: 'scanfarm: /proc/scanfarm cannot be written: its file system does not allow new folders\n',
  })
  expect(code).toBe(0)
  expect(out.trim().split('\n').filter(Boolean)).toHaveLength(readdirSync(into).length)
})

describe('operations', () => {
  const settings = () => ({ DATABASE_URL: cluster.postgres.url, SCANFARM_QUEUE: 'postgres' })

  test('token create writes a token to the database when no token is left', async () => {
    const { out } = await run(['token', 'create', 'rescue', '--role', 'admin', '--direct'], settings())
    expect((await run(['token', 'list'], { SCANFARM_TOKEN: out.trim() })).code).toBe(0)
  })

  test('migrate prints the schema version of the database', async () => {
    expect((await run(['migrate'], settings())).out).toMatch(/^the database is at \d{4}-/)
  })

  test('doctor ends with exit code 0 when every check passes', async () => {
    const { code, out } = await run(['doctor', '--master'], settings())
    expect(out).toMatch(/database +ok[^]*queue +ok/)
    expect(code).toBe(0)
    const workflow = await run(['doctor', '-m', 'noop'])
    expect(workflow.out).toMatch(/workers +ok +none is connected: runs are executed by the server\n/)
    expect(workflow).toMatchObject({ code: 0, out: expect.stringMatching(/tools +ok +1 of 1 can run it\n/) })
  })

  test('doctor names the checks that fail and ends with exit code 1', async () => {
    const { code, out, err } = await run(['doctor'], { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' })
    expect(code).toBe(1)
    expect(out).toMatch(/database +failed +.*ECONNREFUSED/)
    expect(err).toMatch('failed checks: database')
  })
})

describe('findings', () => {
  test('findings are imported, listed and exported', async () => {
    const file = join(folder, 'nuclei.jsonl')
    const line = {
      'template-id': 'T-1',
      info: { name: 'Weak', severity: 'high' },
      'matched-at': 'https://a.example',
    }
    writeFileSync(file, `${JSON.stringify(line)}\n`)
    const imported = await run(['findings', 'import', file, '--workspace', 'cli'])
    expect(imported.out).toMatch(/^format +nuclei$/m)
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(imported.out).toMatch(/^vulnerabilities +1 new, 0 known \(0 updated\), 0 merged, 0 errors$/m)
    const { data } = await parsed<{ data: { vuln_info: string }[] }>(
      'findings',
      'list',
      '--asset',
      'A.EXAMPLE',
    )
    expect(data).toMatchObject([{ vuln_info: 'T-1', workspace: 'cli' }])
    expect((await run(['findings', 'list', '--severity', 'low'])).out).not.toContain('Weak')
    const places = [
      ['--host', 'a.example'],
      ['--check', 'T-1'],
      ['--search', 'weak'],
    ]
    for (const where of places) {
      expect((await run(['findings', 'list', ...where])).out).toContain('Weak')
      expect((await run(['findings', 'list', where[0] ?? '', 'other'])).out).not.toContain('Weak')
    }
    const id = String((data[0] as unknown as { id: number }).id)
    const decision = [
      '--verdict',
      'accepted',
      '--until',
      '2999-01-01',
      '--reason',
      'old host',
      '--comment',
      'Bob',
    ]
    expect(await run(['findings', 'triage', id, ...decision])).toMatchObject({
      code: 0,
      out: `${id}  changed\n`,
    })
    const shown = (await run(['findings', 'show', id])).out
    expect(shown).toMatch(/^verdict +accepted by token:\S+ until 2999-01-01T00:00:00/m)
    expect(shown).toMatch(/^seen +open$/m)
    // What nothing is known about is left out.
    expect(shown).not.toMatch(/^\w+ *$/m)
    expect(shown).toMatch(/ Bob$/m)
    expect((await run(['findings', 'list', '--verdict', 'accepted'])).out).toMatch(
      new RegExp(`^${id} +30 +high +accepted +Weak +https://a.example$`, 'm'),
    )
    expect((await run(['findings', 'list', '--workspace', 'cli'])).out).toMatch(
      /^ID [^\n]*\nno open findings; --all lists /,
    )
    expect((await run(['findings', 'list', '--all'])).out).toMatch(/ accepted +Weak /)
    expect(await run(['findings', 'triage', id, '--undo'])).toMatchObject({ code: 0 })
    expect(await run(['findings', 'triage', '999999', '--verdict', 'none'])).toMatchObject({ code: 1 })
    expect(await run(['findings', 'triage', id])).toMatchObject({ code: 2 })
    expect((await run(['findings', 'triage', id, '--severity', 'low'])).err).toContain(
      '--set-severity sets the severity',
    )
    const rule = ['--check', 't-*', '--verdict', 'false_positive', '--tag', 'lab']
    expect((await run(['findings', 'rules', 'preview', ...rule])).out).toMatch(
      /^matches 1 finding and would change 1\nID .*\n\d+ +verdict false_positive, tags lab +Weak +https:/,
    )
    expect((await run(['findings', 'rules', 'create', 'Lab', ...rule])).out).toMatch(
      /it changed 1 finding\n$/,
    )
    const rules = (await run(['findings', 'rules', 'list'])).out
    expect(rules).toMatch(/^\d+ +1 +Lab +1 +verdict=false_positive … +check=t-\*$/m)
    expect(Math.max(...rules.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect((await run(['findings', 'show', id])).out).toMatch(/^rules +Lab \(tags, verdict\)$/m)
    expect((await run(['findings', 'rules', 'remove', 'lab'])).out).toBe('rule removed; 1 finding changed\n')
    expect((await run(['findings', 'rules', 'add', 'lab'])).err).toContain('match: must have a field')
    expect((await run(['findings', 'rules', 'remove', 'lab'])).code).toBe(5)
    expect(await run(['findings', 'triage', id, '--tag', 'CVE-2026-9001'])).toMatchObject({ code: 0 })
    expect((await run(['findings', 'list', '--tag', 'CVE-2026-9001'])).out).toContain('Weak')
    expect((await run(['findings', 'list', '--tag', 'other'])).out).not.toContain('Weak')
    const epss = join(folder, 'epss.csv')
    writeFileSync(epss, 'cve,epss,percentile\nCVE-2026-9001,0.2,0.95\n')
    expect(await run(['findings', 'enrich', epss])).toMatchObject({
      code: 0,
      out: `${epss}: epss, 1 CVE, 1 finding changed\n`,
    })
    expect((await run(['findings', 'enrich'])).out).toMatch(/^epss .* 1 /m)
    expect((await run(['findings', 'list', '--min-epss', '0.2', '--sort', 'priority'])).out).toMatch(
      new RegExp(`^${id} +40 +high`, 'm'),
    )
    expect((await run(['findings', 'list', '--kev'])).out).not.toContain('Weak')
    expect(await run(['findings', 'list', '--min-epss', '2'])).toMatchObject({ code: 2 })
    expect((await run(['findings', 'show', id])).out).toMatch(
      /^epss +10 +20.00 % probability of exploitation/m,
    )
    const sarif = await run(['findings', 'export', '--format', 'sarif', '--workspace', 'cli'])
    expect(JSON.parse(sarif.out)).toMatchObject({
      version: '2.1.0',
      runs: [{ results: [{ ruleId: 'T-1' }] }],
    })
    const target = join(folder, 'out.csv')
    expect((await run(['findings', 'export', '--format', 'csv', '--to', target])).out).toBe(`${target}\n`)
    const lost = join(folder, 'none/out.csv')
    expect(await run(['findings', 'export', '--format', 'csv', '--to', lost])).toMatchObject({
      code: 1,
      err: `scanfarm: ${lost} cannot be written: its folder does not exist\n`,
    })
    expect(readFileSync(target, 'utf8')).toContain('T-1')
    const wrong = await run(['findings', 'import', file, '--workspace', 'cli', '--format', 'sarif'])
    expect(wrong.code).toBe(5)
    expect(wrong.err).toContain('it is not SARIF 2.1.0')
    writeFileSync(file, JSON.stringify({ ...line, info: { name: 'Minor', severity: 'info' } }))
    await run(['findings', 'import', file, '--workspace', 'cli-2'])
    expect((await run(['findings', 'list'])).out).toMatch(/ Weak [^]* Minor /)
    const ports = [{ port: 8443, proto: 'tcp', status: 'open' }]
    writeFileSync(file, JSON.stringify([{ ip: '198.51.100.9', timestamp: '1767225600', ports }]))
    const workspace = 'a-workspace-with-a-name-that-is-longer-than-most'
    await run(['findings', 'import', file, '--workspace', workspace, '--format', 'masscan'])
    expect((await run(['assets', 'list'])).out).toMatch(/^.{0,50} 198\.51\.100\.9:8443 +a-workspace-/m)
  })
})

// Last, because other tests expect that nothing takes distributed runs.
test('run is distributed without --mode if a worker is connected', async () => {
  expect(await parsed<RunsCreated>('run', '-m', 'noop', '-t', 'mode.example')).toMatchObject({
    run_mode: 'local',
  })
  await cluster.startWorker('worker-1')
  expect(await parsed<RunsCreated>('run', '-m', 'noop', '-t', 'mode.example')).toMatchObject({
    run_mode: 'distributed',
  })
})

test('the weight of an owner is set and listed', async () => {
  expect((await run(['shares', 'set', 'token:ci', '5'])).out).toBe('token:ci has weight 5\n')
  expect((await run(['shares', 'list'])).out).toMatch(/^token:ci +5$/m)
  expect((await run(['shares', 'set', 'ci', '5'])).err).toContain('owner')
  await run(['shares', 'set', 'token:ci', '1'])
  expect(await parsed('shares', 'list')).toEqual([])
})

describe('scopes and the never-scan list', () => {
  test('limits of all runs and of a scope are set, shown and removed', async () => {
    const limits = ['--limit', 'address:rate=10,runs=2', '--limit', 'domain:runs=5']
    expect(await run(['limits', 'set', ...limits])).toMatchObject({
      err: '',
      out: 'address:rate=10,runs=2 domain:runs=5\n',
    })
    expect(await parsed('limits', 'show')).toEqual({
      per_address: { rate: 10, runs: 2 },
      per_domain: { runs: 5 },
    })
    expect((await run(['limits', 'set', '--limit', 'address:rate=2,runs=3'])).err).toContain(
      'must not be more than the rate, 2, which the runs share: got 3',
    )
    expect((await run(['limits', 'set', '--limit', 'port:rate=2'])).err).toContain(
      'Write the limit "port:rate=2" like',
    )
    const once = ['--limit', 'workflow:once', '--limit', 'domain:runs=5']
    expect((await run(['limits', 'set', ...once])).out).toBe('domain:runs=5 workflow:once\n')
    expect(await parsed('limits', 'show')).toEqual({ per_domain: { runs: 5 }, workflow_once: true })
    expect((await run(['limits', 'set', '--limit', 'none'])).out).toBe('none\n')
    const added = await run(['scopes', 'create', 'polite', '--allow', '*', ...limits])
    expect(added.out).toMatch(/^limits +address:rate=10,runs=2 domain:runs=5$/m)
    const bad = await run(['scopes', 'change', 'polite', '--limit', 'address:rate=2,runs=3'])
    expect(bad.err).toContain('limits/per_address/runs')
    expect((await run(['scopes', 'remove', 'polite'])).code).toBe(0)
  })

  test('a scope is created, changed, checked and removed', async () => {
    const windows = ['--window', 'sat,sun 08:00-20:00', '--window', '22:00-23:00']
    const window = [...windows, '--zone', 'Europe/Berlin']
    const added = await run([
      'scopes',
      'create',
      'lab',
      '--allow',
      '*.lab.example',
      '--allow',
      '10.0.0.0/8',
      ...window,
    ])
    expect(added.out).toMatch(/^windows +sat,sun 08:00-20:00; 22:00-23:00$/m)
    expect((await run(['scopes', 'list'])).out).toMatch(/^lab +\*\.lab\.example 10\.0\.0\.0\/8 +0/m)
    expect((await run(['scopes', 'change', 'lab', '--deny', '10.0.0.1', '--owner', 'Ann'])).code).toBe(0)
    expect((await run(['scopes', 'show', 'lab'])).out).toMatch(/^denied +10\.0\.0\.1$/m)
    const refused = await run(['scopes', 'check', '10.0.0.1', '--scope', 'lab'])
    expect(refused).toMatchObject({ code: 1, out: 'refused: the scope lab denies 10.0.0.1\n' })
    expect(await run(['scopes', 'check', 'other.example'])).toMatchObject({ code: 0, out: 'allowed\n' })
    expect((await run(['scopes', 'add', 'none'])).err).toContain('name what is allowed with --allow')
    expect((await run(['scopes', 'change', 'lab'])).err).toContain('nothing to change')
    expect((await run(['scopes', 'add', 'bad', '--allow', '*', '--window', 'never'])).err).toContain(
      'write it like',
    )
    const started = await run([
      'run',
      '-m',
      'noop',
      '-t',
      '10.0.0.1',
      '-t',
      'a.lab.example',
      '--scope',
      'lab',
    ])
    expect(started.err).toBe('scanfarm: refused 10.0.0.1: the scope lab denies 10.0.0.1\n')
    const strict = await run([
      'run',
      '-m',
      'noop',
      '-t',
      '10.0.0.1',
      '-t',
      '10.0.0.2',
      '--scope',
      'lab',
      '--strict',
    ])
    expect(strict.err).toContain('10.0.0.1: the scope lab denies 10.0.0.1')
    expect((await run(['scopes', 'remove', 'lab'])).out).toBe('scope lab removed\n')
  })

  test('was-it-us names the runs whose target a host was, with their commands', async () => {
    expect((await run(['run', '-m', 'noop', '-t', 'http://198.51.100.7:8080/a', '--wait'])).code).toBe(0)
    const found = await run(['was-it-us', '198.51.100.7'])
    expect(found.out).toMatch(
      /^\S{36}(?: +\d\d-\d\d \d\d:\d\d){2} +target http:\S+:8080\/a +noop +\S+ on \S+/m,
    )
    expect(found.out).toMatch(/^\S+ \S+ nothing: true$/m)
    const steps = async (module: string, target: string) => {
      await run(['run', '-m', module, '-t', target, '-p', 'folder=/nowhere', '--wait'])
      return (await run(['was-it-us', target])).out.split('\n').slice(2, -2)
    }
    // A step that was skipped sent nothing; a command takes one line.
    expect(await steps('skip', '198.51.100.9')).toEqual([])
    expect(await steps('held', '198.51.100.10')).toEqual([
      expect.stringMatching(/ rest: sleep 0\.05 if \[ -e .* fi *$/),
      expect.stringMatching(/ say: echo 198\.51\.100\.10$/),
    ])
    // A step whose functions only compute, or work with files and records, is marked and left out.
    expect(await steps('noted', '198.51.100.11')).toEqual([
      expect.stringContaining(' say: '),
      expect.stringMatching(/ quiet: $/),
      expect.stringContaining(' long: log_info("said said '),
      expect.stringMatching(/ ask: log_info\("said"\) exec_cmd\("echo"\)==""$/),
      expect.stringMatching(/ told: log_info\("said"\) exec_cmd\("echo"\)$/),
      // A condition that may have asked a host, although it skipped the step.
      expect.stringMatching(/ gone: exec_cmd\("echo"\)!=""$/),
      expect.stringMatching(/ pick: log_info\("said"\) exec_cmd\("echo"\)$/),
      expect.stringMatching(/ act-on_success-1: echo sent$/),
    ])
    expect(await parsed('was-it-us', '198.51.100.11')).toMatchObject({
      data: [
        {
          steps: [
            { sends_nothing: false },
            { name: 'note', sends_nothing: true },
            { name: 'quiet', sends_nothing: false },
            { name: 'long', sends_nothing: false },
            { name: 'ask', sends_nothing: false },
            { name: 'told', sends_nothing: false },
            { name: 'gone', sends_nothing: false },
            { name: 'pick', sends_nothing: false },
            { name: 'act', sends_nothing: true },
            { name: 'act-on_success-1', sends_nothing: false },
          ],
        },
      ],
    })
    expect(found.out).toMatch(/^1 run from \S+ to \S+\. Runs from before \S+ are not kept\. It is known of/m)
    const none = await run(['was-it-us', '198.51.100.8', '--from', '2026-01-01', '--to', '2026-01-02'])
    expect(none.out).toMatch(/^No run from 2026-01-01T00:00:00\.000Z to 2026-01-02T00:00:00\.000Z\./)
    for (const text of ['', ' ', '198.51.100.0/24', 'http://a.example/', 'a.example:80'])
      expect((await run(['was-it-us', text])).err).toContain(
        `scanfarm: address: ${JSON.stringify(text)} is not the address or name of one host: give one like 198.51.100.7, 2001:db8::7 or www.example.com\n`,
      )
    for (const text of ['[2001:DB8::7]', '2001:db8::7', 'WWW.a.example.'])
      expect((await run(['was-it-us', text])).code).toBe(0)
    expect((await run(['was-it-us', 'a.example', '--from', 'noon'])).err).toContain('"noon" is no time')
    expect(
      (await run(['was-it-us', 'a.example', '--from', '2026-02-01', '--to', '2026-01-01'])).err,
    ).toContain('must not be after to')
  })

  test('entries of the never-scan list are added, imported, listed and removed', async () => {
    const added = await run(['never-scan', 'add', 'clinic.example', '--reason', 'a clinic'])
    const id = /id (\d+)/.exec(added.out)?.[1] ?? ''
    const file = join(folder, 'never.txt')
    writeFileSync(file, 'clinic.example\n192.0.2.0/24 # the lab\n')
    expect((await run(['never-scan', 'import', file, '--reason', 'from a file'])).out).toBe(
      '1 added, 1 replaced\n',
    )
    const { out } = await run(['never-scan', 'list'])
    expect(out).toMatch(/^\d+ +192\.0\.2\.0\/24 +the lab$/m)
    expect(out).toMatch(/^\d+ +clinic\.example +from a file$/m)
    expect((await run(['run', '-m', 'noop', '-t', 'www.clinic.example'])).err).toContain('never-scan list')
    expect((await run(['never-scan', 'import', '-', '--reason', 'x'], {}, '10.0.0.1/8\n')).err).toContain(
      'line 1',
    )
    for (const entry of ['192.0.2.0/24', id])
      expect((await run(['never-scan', 'remove', entry])).code).toBe(0)
    expect((await run(['never-scan', 'remove', id])).err).toContain(`no never-scan entry "${id}"`)
  })
})
