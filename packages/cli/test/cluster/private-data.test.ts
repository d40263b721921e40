import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { freePort } from '@scanfarm/testing'
import { Client } from './client.ts'
import { Program, until } from './program.ts'

const TEST_MS = 400_000
const PASSAGE = 0o711
const MODULE = `kind: module
name: hello
reports: [{name: note, path: "{{Output}}/note.txt", type: text}]
steps:
  - name: hello
    type: bash
    command: echo {{target}} > "{{Output}}/note.txt"; echo done
`

interface Found {
  readonly path: string
  readonly stat: Stats
}

/** Yields everything below a folder, and whether other users can reach it. */
const walk = function* (folder: string, reachable: boolean): Generator<Found & { reachable: boolean }> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stat = lstatSync(path)
    if (stat.isDirectory()) {
      yield { path, stat, reachable }
      yield* walk(path, reachable && (stat.mode & 0o001) !== 0)
    } else if (stat.isFile()) yield { path, stat, reachable }
  }
}

test(
  'Other users cannot read the data folder, and the first token is in no log',
  async () => {
    await using scope = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'scanfarm-private-'))
    scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    await chmod(folder, PASSAGE)
    // The data folder of an earlier version or a careless operator: readable by all users, with log files in it.
    const data = join(folder, 'data')
    await mkdir(join(data, 'artifacts'), { recursive: true })
    await chmod(data, 0o755)
    await writeFile(join(data, 'old.log'), 'old', { mode: 0o644 })
    await mkdir(join(folder, 'workflows'))
    await writeFile(join(folder, 'workflows/hello.yaml'), MODULE)
    const port = await freePort()
    const env = { SCANFARM_DATA_DIR: data, SCANFARM_WORKFLOWS_FOLDERS: join(folder, 'workflows') }
    const master = scope.use(
      new Program('master', ['server', '--master', '--port', String(port)], { folder: data, env }),
    )
    const url = `http://127.0.0.1:${port}`
    await master.until('was ready', async () => (await fetch(`${url}/health/ready`)).ok)
    const token = readFileSync(join(data, 'admin-token'), 'utf8').trim()
    expect(token).toMatch(/^sfm_/)
    const worker = scope.use(new Program('worker', ['worker'], { folder: data, env }))
    const client = new Client(url, token)
    const form = new FormData()
    form.set('file', new Blob(['uploaded.test\n']), 'targets.txt')
    const headers = { Authorization: `Bearer ${token}` }
    const uploaded = await fetch(`${url}/api/upload-file`, { method: 'POST', body: form, headers })
    const { path } = (await uploaded.json()) as { path: string }
    const { job_id } = await client.post<{ job_id: string }>('/runs', {
      module: 'hello',
      target_file: path,
      run_mode: 'distributed',
    })
    await until('the job is completed', async () => {
      const { completed } = await client.get<{ completed: number }>(`/jobs/${job_id}`)
      return completed === 1
    })

    const found = [...walk(data, true)]
    const names = found.map((one) => one.path.slice(data.length + 1))
    expect(names).toEqual(
      expect.arrayContaining(
        ['admin-token', 'master.log', 'worker.log', 'old.log', path].map((name) =>
          name === path ? `artifacts/${path}` : name,
        ),
      ),
    )
    // The folders for tools are readable by the commands of all users.
    const tools = join(data, 'base')
    const open = found.filter(({ stat, reachable, path: at }) =>
      // Other users may at most traverse folders, and have no rights on files.
      stat.isDirectory()
        ? reachable && (stat.mode & (at.startsWith(`${tools}/`) ? 0o022 : 0o066)) !== 0
        : (reachable || at.includes('artifacts/')) && (stat.mode & 0o077) !== 0,
    )
    expect(open.map((one) => `${(one.stat.mode & 0o777).toString(8)} ${one.path}`)).toEqual([])
    const withToken = found.filter(({ stat, path: at }) => stat.isFile() && readFileSync(at).includes(token))
    expect(withToken.map((one) => one.path)).toEqual([join(data, 'admin-token')])
    expect(`${master.log}${worker.log}`).not.toContain('sfm_')
  },
  TEST_MS,
)
