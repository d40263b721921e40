// long
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { findSandbox } from '@scanfarm/runners'
import { until } from '@scanfarm/testing'
import { openTestCluster, type TestCluster, type WorkerProcess } from '../harness/workers.ts'
import { TEST_MS, freshName, gone, pinned } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const NOBODY = 65_534
const FOUR = '-all,+setuid,+setgid,+kill,+chown'
const SETPRIV = ['/usr/bin/setpriv', '--no-new-privs']
/** A secret in the environment, the command line and the files of a worker. */
const CANARY = 'canary-of-worker'

interface Kind {
  readonly wrapper: readonly string[]
  readonly owner: number
  readonly settings: Readonly<Record<string, string>>
}

const KINDS: Readonly<Record<string, Kind>> = {
  root: { wrapper: [], owner: 0, settings: { SCANFARM_RUNNER_ISOLATION: 'uids' } },
  'root with four capabilities': {
    wrapper: [...SETPRIV, `--bounding-set=${FOUR}`, '--inh-caps=-all'],
    owner: 0,
    settings: { SCANFARM_RUNNER_ISOLATION: 'require' },
  },
  'another user': {
    wrapper: [...SETPRIV, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--inh-caps=-all'],
    owner: NOBODY,
    // The worker finds the program of SCANFARM_TEST_BUBBLEWRAP on PATH.
    settings: { SCANFARM_RUNNER_ISOLATION: 'bubblewrap' },
  },
}

const asRoot = process.getuid?.() === 0 ? describe : describe.skip

asRoot.each(Object.entries(KINDS))('A worker that runs as %s', (name, { wrapper, owner, settings }) => {
  let cluster: TestCluster
  let data: string
  /** Contains settings and secrets: outside the data folder, in a place that every program may enter. */
  let etc: string
  let worker: WorkerProcess
  beforeAll(async () => {
    cluster = await openTestCluster()
    await chmod(cluster.folder, 0o755)
    data = join(cluster.folder, 'data')
    await mkdir(data, { mode: 0o711 })
    await mkdir(join(data, 'secret-files'), { mode: 0o711 })
    await writeFile(join(data, 'secret-files', 'token'), CANARY, { mode: 0o600 })
    for (const path of [data, join(data, 'secret-files'), join(data, 'secret-files', 'token')])
      await chown(path, owner, owner)
    etc = await mkdtemp('/opt/scanfarm-test-')
    await chmod(etc, 0o755)
    const config = `notify.telegram: telegram://${CANARY}@1\nrunner.paths: [${etc}/lists, '${etc}/results:rw']\n`
    for (const [name, content] of Object.entries({ database: cluster.databaseUrl, config })) {
      await writeFile(join(etc, name), content, { mode: 0o600 })
      await chown(join(etc, name), owner, owner)
    }
    await mkdir(join(etc, 'lists'))
    await writeFile(join(etc, 'lists', 'words'), 'word\n')
    await mkdir(join(etc, 'results'))
    await chmod(join(etc, 'results'), 0o777)
    worker = await cluster.spawnWorker(
      {
        SCANFARM_RUNNER_USER: '',
        // A sandbox hides the folder of the cluster with its programs.
        SCANFARM_RUNNER_PATH: '',
        DATABASE_URL: '',
        DATABASE_URL_FILE: join(etc, 'database'),
        SCANFARM_CONFIG: join(etc, 'config'),
        ...settings,
      },
      wrapper,
    )
  })
  afterAll(async () => {
    worker?.send('SIGTERM')
    await worker?.ended
    await rm(etc, { recursive: true, force: true })
    await cluster?.[Symbol.asyncDispose]()
  })

  const outputs = async (runId: number): Promise<string[]> => {
    const run = await cluster.ended(runId)
    expect(run).toMatchObject({ status: 'completed', error_message: '' })
    return ((await cluster.store.runs.steps(String(runId)))?.data ?? []).map(({ output }) => output)
  }

  /** Prints the secrets that a step can find. */
  const spy = (secrets: string): string =>
    `{ cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ
       for link in /proc/[0-9]*/fd/* /proc/[0-9]*/root /proc/[0-9]*/cwd; do
         case $link in /proc/$$/*|/proc/self/*) ;; *) [ -d "$link/" ] && ls "$link/" ;; esac; done
       find ${cluster.folder} ${etc} /var/lib/scanfarm-uids -type f -exec cat {} +
     } 2>/dev/null | tr '\\0' '\\n' | grep -aoE '${secrets}' | sort -u; echo searched`

  test('hides its secrets from steps, and all files and processes of other workspaces', async () => {
    const [rested, working] = [freshName(), freshName()]
    const keep = {
      name: 'keep',
      command: 'umask 0; mkdir -p -m 777 {{Output}}/deep; echo hoard-$SCANFARM_TARGET > {{Output}}/deep/file',
    }
    const [first = 0] = await cluster.submit([keep], [rested])
    await outputs(first)
    const wait = { name: 'wait', command: 'echo up > {{Output}}/up; MINE=hoard-in-environment sleep 300' }
    const [second = 0] = await cluster.submit([keep, wait], [working])
    await cluster.until(second, (run) => run.completed_steps === 1)
    const workerPid = worker.pid
    const [third = 0] = await cluster.submit(
      [
        { name: 'search', command: spy('canary-[a-z-]*|hoard-[a-z0-9.-]*|postgres://[^ ]*') },
        {
          name: 'reach',
          command: `id -u; kill -0 ${workerPid} 2>&1; cat /proc/${workerPid}/mem 2>&1 | head -c 100; cat ${data}/secret-files/token 2>&1; echo reached`,
        },
        {
          name: 'inherited',
          command:
            'ls /proc/self/fd | tr "\\n" " "; grep -E "^(CapEff|CapPrm)" /proc/self/status | tr "\\n\\t" "  "; umask',
        },
      ],
      [freshName()],
    )
    const [search, reach = '', inherited] = await outputs(third)
    expect(search).toBe('searched\n')
    const [uid, ...lines] = reach.trim().split('\n')
    if (name === 'another user') expect(uid).toBe(String(NOBODY))
    else expect(Number(uid)).toBeGreaterThanOrEqual(40_000)
    expect(lines.at(-1)).toBe('reached')
    expect(lines.slice(0, -1).join('\n')).toMatch(
      /^.*(not permitted|No such process)\s*\n.*(denied|No such file).*\n.*(denied|No such file).*$/,
    )
    expect(inherited).toMatch(/^0 1 2 3 CapPrm: 0{16} CapEff: 0{16} 0?0[07]7\n$/)
    await cluster.store.runs.requestCancel(String(second))
    await cluster.queue.publishCancel([{ runId: second }])
    expect(await cluster.ended(second)).toMatchObject({ status: 'cancelled' })
  })

  test('lets functions and steps use the paths of runner.paths and nothing next to them', async () => {
    const steps = [
      { name: 'read', type: 'function', function: `read_file("${etc}/lists/words")` },
      { name: 'steal', type: 'function', function: `read_file("${etc}/database")` },
      {
        name: 'use',
        type: 'bash',
        command: `cat ${etc}/lists/words; echo found > ${etc}/results/file; cat ${etc}/results/file; cat ${etc}/database ${etc}/config 2>/dev/null; echo done`,
      },
    ]
    const [runId = 0] = await cluster.submit(
      [],
      [freshName()],
      pinned({ steps: steps.map((step) => ({ ...step, on_error: [{ action: 'continue' }] })) }),
    )
    await cluster.ended(runId)
    const found = (await cluster.store.runs.steps(String(runId)))?.data ?? []
    expect(found[0]?.output).toMatch('word')
    expect(found[1]).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(found)).not.toMatch(/canary-|postgres:/)
    expect(found[2]?.output).toBe('word\nfound\ndone\n')
  })

  test('uploads and removes files that steps closed to other users', async () => {
    const target = freshName()
    const command =
      'umask 077; echo private > {{Output}}/private.txt; mkdir -p "$HOME/deep/deeper"; echo x > "$HOME/deep/deeper/x"; chmod 500 "$HOME/deep"; umask 007; echo list > {{Output}}/list.txt; mkdir -m 700 -p {{Output}}/tree/closed {{Output}}/sealed; echo one > {{Output}}/tree/closed/one; chmod 600 {{Output}}/tree/closed/one; echo two > {{Output}}/tree/two; chmod 600 {{Output}}/tree/two; echo three > {{Output}}/sealed/three'
    const [runId = 0] = await cluster.submit([{ name: 'make', command }], [target], {
      ...pinned({
        steps: [
          { name: 'make', type: 'bash', command },
          { name: 'read', type: 'function', function: 'read_file("{{Output}}/list.txt")' },
          { name: 'save', type: 'function', function: 'save_content("saved\\n", "{{Output}}/saved.txt")' },
          {
            name: 'again',
            type: 'bash',
            command: 'cat {{Output}}/saved.txt; echo more >> {{Output}}/saved.txt',
          },
        ],
        reports: [
          { name: 'private', path: '{{Output}}/private.txt', type: 'text' },
          { name: 'tree', path: '{{Output}}/tree', type: 'folder' },
          { name: 'sealed', path: '{{Output}}/sealed', type: 'folder' },
        ],
      }),
    })
    const [, read, , again] = await outputs(runId)
    expect(read).toMatch('list')
    expect(again).toBe('saved\n')
    const artifacts = (await cluster.store.runs.artifacts(String(runId)))?.data ?? []
    expect(artifacts.find((one) => one.name === 'private')).toMatchObject({ size_bytes: 'private\n'.length })
    for (const [folder, lines] of Object.entries({ tree: ['one', 'two'], sealed: ['three'] })) {
      const { id = '' } = artifacts.find((one) => one.name === folder) ?? {}
      const kept = await cluster.store.runs.artifact(String(runId), id)
      const content = await readFile(join(data, 'artifacts', kept?.store_key ?? 'missing'), 'latin1')
      expect(lines.filter((line) => content.includes(`${line}\n`))).toEqual(lines)
    }
    const { run_uuid: runUuid } = await cluster.run(runId)
    await until(
      async () => {
        const left = await readdir(join(data, 'work', 'runs'))
        return left.includes(`${runUuid}-1`) ? undefined : true
      },
      { what: 'the removal of the work folder' },
    )
  })

  // A worker that may read less than root has less to store.
  if (name === 'root')
    test('stores no file from elsewhere while a step swaps a folder with a link', async () => {
      const swap = `cd {{Output}}; until [ -e stop ]; do mv d real; ln -s ${data}/secret-files d; rm d; mv real d; done`
      const step = {
        name: 'register',
        type: 'function',
        function: 'register_artifact("{{Output}}/d/token")',
        on_error: [{ action: 'continue' }],
      }
      const begin = 'mkdir {{Output}}/d; echo mine > {{Output}}/d/token; seq 100 > {{Output}}/tries'
      const [runId = 0] = await cluster.submit([], [freshName()], {
        ...pinned({
          steps: [
            { name: 'begin', type: 'bash', command: begin },
            { name: 'swap', type: 'bash', command: swap, depends_on: ['begin'] },
            {
              name: 'each',
              type: 'foreach',
              input: '{{Output}}/tries',
              variable: 'try',
              step,
              depends_on: ['begin'],
              on_error: [{ action: 'continue' }],
            },
            { name: 'end', type: 'bash', command: 'touch {{Output}}/stop', depends_on: ['each'] },
          ],
          reports: [{ name: 'folder', path: '{{Output}}/d', type: 'folder' }],
        }),
      })
      const run = await cluster.ended(runId)
      const artifacts = (await cluster.store.runs.artifacts(String(runId)))?.data ?? []
      expect(run.status).toBe('completed')
      expect(artifacts.some(({ artifact_path: path }) => path.endsWith('d/token'))).toBe(true)
      const stored = await readdir(join(data, 'artifacts'), { recursive: true, withFileTypes: true })
      for (const file of stored.filter((one) => one.isFile()))
        expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toContain(CANARY)
      expect(await readFile(join(data, 'secret-files', 'token'), 'utf8')).toBe(CANARY)
    })

  test('kills all processes of a cancelled step, even in other sessions, and reports their pids', async () => {
    const target = freshName()
    const command =
      '(setsid sh -c "echo up > {{Output}}/up; exec sleep 4321" </dev/null >/dev/null 2>&1 &); sleep 300'
    const [runId = 0] = await cluster.submit([{ name: 'slow', command }], [target])
    const sleeper = await until(
      async () => {
        const { stdout } = await promisify(execFile)('pgrep', ['-f', 'sleep 4321']).catch(() => ({
          stdout: '',
        }))
        return stdout === '' ? undefined : Number(stdout.split('\n')[0])
      },
      { what: 'the daemon' },
    )
    await cluster.store.runs.requestCancel(String(runId))
    await cluster.queue.publishCancel([{ runId }])
    const run = await cluster.ended(runId)
    expect(run).toMatchObject({ status: 'cancelled' })
    expect(await gone(sleeper)).toBe(true)
    expect(run.killed_pids).toContain(sleeper)
  })
})

test('A worker that must isolate refuses to start where it cannot, with the missing requirement', async () => {
  const cluster = await openTestCluster()
  const isRoot = process.getuid?.() === 0
  const wrapper = isRoot ? [...SETPRIV, '--bounding-set=-all,+setuid', '--inh-caps=-all'] : []
  const refused = await cluster.spawnWorker(
    { SCANFARM_RUNNER_USER: '', SCANFARM_RUNNER_PATH: '/nonexistent', SCANFARM_RUNNER_ISOLATION: 'require' },
    wrapper,
  )
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toMatch(/runner\.isolation \(SCANFARM_RUNNER_ISOLATION\) is require, but /)
  expect(refused.output()).toMatch(isRoot ? /SETUID, SETGID, KILL and CHOWN/ : /install bubblewrap/)
  await cluster[Symbol.asyncDispose]()
})

test('A missing or broken bubblewrap is reported', () => {
  expect(findSandbox('/nonexistent', { hidden: [], visible: [], writable: [] })).toEqual({
    problem: 'bwrap (bubblewrap) is not installed',
  })
})
