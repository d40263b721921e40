import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runProgram } from '../src/index.ts'
import { captureTerminal } from './captured-terminal.ts'
import { TestCluster, TOKEN } from './cluster/test-cluster.ts'

const START_MS = 300_000

let folder = ''
let cluster: TestCluster
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-cli-'))
  cluster = await TestCluster.start({ queue: 'postgres', workers: 0 })
}, START_MS)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
}, START_MS)

const run = async (...args: string[]) => {
  const env = { SCANFARM_DATA_DIR: folder, SCANFARM_URL: cluster.client.url, SCANFARM_TOKEN: TOKEN }
  const terminal = captureTerminal(env)
  const code = await runProgram(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}

const job = async (): Promise<string> => {
  const { out } = await run('run', '-m', 'noop', '-t', 'night.test', '--wait', '--json')
  return /"job_id": "([0-9a-f]{16})"/.exec(out)?.[1] ?? ''
}

test('diff compares two jobs, and report writes a page about one thing', async () => {
  const [earlier, later] = [await job(), await job()]
  expect(await run('diff', earlier, later)).toEqual({
    code: 0,
    out: 'new: 0; back: 0; gone: 0; not tested: 0\n',
    err: '',
  })
  expect((await run('diff', '0123456789abcdef', later)).code).toBe(5)
  expect(await run('findings', 'list', '--since', later)).toMatchObject({ code: 0, err: '' })
  expect((await run('findings', 'list', '--since', '0123456789abcdef')).err).toContain('there is no job')
  const file = join(folder, 'report.html')
  expect(await run('report', '--job', later, '-o', file)).toEqual({ code: 0, out: `${file}\n`, err: '' })
  expect(readFileSync(file, 'utf8')).toContain(`Report of job ${later}`)
  expect((await run('report')).err).toContain('give a workspace, --schedule or --job')
  expect((await run('report', '--schedule', 'no-such')).code).toBe(5)
})

test('queue shows what waits by workflow, and why', async () => {
  expect((await run('queue')).out).toBe('nothing waits\n')
  await run('run', '-m', 'noop', '-t', 'waiting.test', '--mode', 'distributed')
  const { out } = await run('queue')
  expect(out).toMatch(/WAITING +RUNNING +JOBS +OLDEST +WORKFLOW\n1 +0 +1 +\d+\w +noop\n/)
  expect(out).toMatch(/1 +normal +\d+\w +no live worker/)
  expect((await run('runs', 'list', '--target', 'waiting.test')).out).toBe(
    (await run('runs', '--target', 'waiting.test')).out,
  )
})

test('A schedule is named, and a name of several is refused', async () => {
  const create = (name: string) =>
    run('schedules', 'create', name, '-w', 'noop', '--cron', '0 3 * * *', '-t', 'a.test')
  await create('one')
  expect((await run('schedules', 'trigger', 'one')).out).toContain('Schedule triggered')
  await create('twice')
  await create('twice')
  const refused = await run('schedules', 'remove', 'twice')
  expect(refused.code).toBe(2)
  expect(refused.err).toMatch(/2 schedules have the name "twice"; give an id: sch_\w+, sch_\w+/)
})

test('The completion of bash offers the verbs of a noun, and the options of a verb', async () => {
  const { out } = await run('completion', 'bash')
  const offered = async (...line: string[]): Promise<string[]> => {
    const words = line.map((word) => `'${word}'`).join(' ')
    const script = `${out}\nCOMP_WORDS=(scanfarm ${words}); COMP_CWORD=${line.length}; _scanfarm; echo "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    return stdout.trim().split(' ')
  }
  expect(await offered('sched')).toEqual(['schedules'])
  expect(await offered('schedules', 'tr')).toEqual(['trigger'])
  expect(await offered('findings', 'list', '--sev')).toEqual(['--severity'])
  expect(await offered('runs', '--limit', '5', 'can')).toEqual(['cancel'])
  for (const shell of ['zsh', 'fish']) expect((await run('completion', shell)).out).toContain('findings list')
})
