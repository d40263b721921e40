import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { createHostRunners, type HostRunners } from '@scanfarm/runners'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { Homes } from '../../src/workspaces/homes.ts'
import type { ExecutorOptions } from '../../src/slots/options.ts'
import { folderProblems, openToolFolders, toolFolders } from '../../src/tools/tool-folders.ts'
import { sharedUser } from '../../src/users/command-users.ts'
import { UserPool } from '../../src/users/user-pool.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const SECRET = 'hunter2-secret'
const isRoot = process.getuid?.() === 0

const harness = forAllTests(() => openHarness())

const operatorInput: ExecutorOptions['operatorInput'] = {
  env: { MY_KEY: SECRET },
  variables: {},
  secrets: [SECRET],
  folders: {},
}

test('A failed run is logged in one line without secrets', async () => {
  const warnings: [string, unknown][] = []
  const log = {
    ...silentLogger,
    warn: (message: string, fields?: unknown) => void warnings.push([message, fields]),
  }
  await using executor = harness.executor({ operatorInput, log })
  const [failed = 0] = await harness.submit([bash(`bad ${SECRET}`, 'exit 3')], { targets: [SECRET] })
  const [fine = 0] = await harness.submit([bash('good', 'true')], { targets: ['quiet.test'] })
  await harness.ended(fine)
  const run = await harness.ended(failed)
  await executor.drain(60_000)
  expect(run.status).toBe('failed')
  expect(warnings).toEqual([
    [
      'a run failed',
      {
        run_id: failed,
        run_uuid: run.run_uuid,
        attempt: 1,
        workflow: 'under-test',
        target: '***',
        error: run.error_message,
        duration_ms: expect.any(Number),
      },
    ],
  ])
  expect(run.error_message).not.toBe('')
  expect(JSON.stringify(warnings)).not.toContain(SECRET)
})

test('A secret that commands print is in no row, log or artifact', async () => {
  await using _executor = harness.executor({ operatorInput })
  const [runId = 0] = await harness.submit({
    kind: 'module',
    steps: [
      bash(
        'print',
        'test -n "$MY_KEY" && echo "key=$MY_KEY" | tee out.txt; mkdir -p d; cp out.txt d/; seq 20000; echo "$MY_KEY"',
      ),
      { name: 'log', type: 'function', function: "log_info(os_getenv('MY_KEY'))" },
    ],
    reports: [
      { name: 'out', path: 'out.txt', type: 'text' },
      { name: 'folder', path: 'd', type: 'folder' },
    ],
  })
  const run = await harness.ended(runId)
  expect(run).toMatchObject({ status: 'completed', error_message: '' })
  const rows = (await harness.store.runs.artifacts(String(runId)))?.data ?? []
  expect(rows.map(({ name }) => name).sort()).toEqual(['execution log', 'folder', 'out', 'run state'])
  const steps = await harness.steps(runId)
  expect(steps[0]?.output.slice(-4)).toBe('***\n')
  const bytes = await everything(join(harness.folder, 'store'))
  expect(bytes.split('key=***')).toHaveLength(4)
  expect(bytes + JSON.stringify([run, steps, rows])).not.toContain(SECRET)
})

/** The content of all files below a folder: artifacts and logs. */
const everything = async (folder: string): Promise<string> => {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'))
  return (await Promise.all(texts)).join('\n')
}

describe('Homes', () => {
  let root: string
  let lastUid = 37_000
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'homes-'))
    await chmod(root, 0o711)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  /** Like a worker: as root with a user for each workspace. */
  const withHomes = (homes: Homes, runners: HostRunners): Partial<ExecutorOptions> => {
    homes.prepare(undefined)
    const first = (lastUid += 20)
    const range = { first, last: first + 10 }
    const users = isRoot
      ? new UserPool({ range, folder: join(root, 'uids'), endUser: (user) => runners.endUser(user), homes })
      : sharedUser(undefined, homes)
    return { homes, users, runners }
  }
  const outputOf = async (runId: number): Promise<string> => {
    await harness.ended(runId)
    return (await harness.steps(runId)).map(({ output }) => output).join('')
  }

  test('A tool finds the files of the previous run in its home', async () => {
    await using runners = createHostRunners()
    await using _executor = harness.executor(withHomes(new Homes(join(root, 'kept'), 'workspace'), runners))
    const tool = bash(
      'tool',
      'cat ~/.tool/state 2>/dev/null; mkdir -p ~/.tool; echo "used $SCANFARM_RUN_ID" >> ~/.tool/state',
    )
    const [first = 0] = await harness.submit([tool], { targets: ['kept.test'] })
    expect(await outputOf(first)).toBe('')
    const [second = 0] = await harness.submit([tool], { targets: ['kept.test'] })
    expect(await outputOf(second)).toBe(`used ${first}\n`)
    const [other = 0] = await harness.submit([tool], { targets: ['other.test'] })
    expect(await outputOf(other)).toBe('')
  })

  test('A new home contains the files of the skeleton', async () => {
    const folder = join(root, 'begun')
    const homes = new Homes(folder, 'workspace')
    await using runners = createHostRunners()
    await using _executor = harness.executor(withHomes(homes, runners))
    await mkdir(join(folder, 'skel/.config/tool'), { recursive: true })
    await writeFile(join(folder, 'skel/.config/tool/config.yaml'), 'rate: 5\n')
    await mkdir(join(folder, 'skel/templates'))
    await writeFile(join(folder, 'skel/templates/a.yaml'), 'a template\n')
    const [runId = 0] = await harness.submit(
      [
        bash(
          'a',
          'cat ~/.config/tool/config.yaml ~/templates/a.yaml && echo rate: 6 > ~/.config/tool/config.yaml',
        ),
      ],
      { targets: ['begun.test'] },
    )
    expect(await outputOf(runId)).toBe('rate: 5\na template\n')
    expect(await readFile(join(folder, 'skel/.config/tool/config.yaml'), 'utf8')).toBe('rate: 5\n')
  })

  ;(isRoot ? test : test.skip)(
    'No workspace reaches the home of another, nor changes the skeleton',
    async () => {
      const folder = join(root, 'apart')
      await using runners = createHostRunners()
      const options = withHomes(new Homes(folder, 'workspace'), runners)
      await using first = harness.executor(options)
      await writeFile(join(folder, 'skel/.profile'), 'echo skeleton\n')
      const victim = `${folder}/workspaces/victim.test`
      const [runId = 0] = await harness.submit([bash('a', 'echo private > ~/key')], {
        targets: ['victim.test'],
      })
      await harness.ended(runId)
      // The end of a run is recorded before its user is released, which closes the home.
      await first.drain(60_000)
      expect(await stat(victim)).toMatchObject({ uid: 0 })
      await using _second = harness.executor(options)
      const attack = `cat ${victim}/key; ls ${victim}; echo x > ${victim}/.profile; ls ${folder}/workspaces
      ln -s ${victim} ~/link; cat ~/link/key; echo evil > ${folder}/skel/.profile; rm ${folder}/skel/.profile; true`
      const [attacker = 0] = await harness.submit([bash('a', attack)], { targets: ['attacker.test'] })
      expect(await outputOf(attacker)).not.toMatch(/private|victim\.test$/m)
      expect(await readFile(join(folder, 'skel/.profile'), 'utf8')).toBe('echo skeleton\n')
      const [again = 0] = await harness.submit([bash('a', 'cat ~/key')], { targets: ['victim.test'] })
      expect(await outputOf(again)).toBe('private\n')
    },
  )

  test('A shared home is used by all workspaces', async () => {
    const folder = join(root, 'shared')
    await using runners = createHostRunners()
    await using _executor = harness.executor(withHomes(new Homes(folder, 'shared'), runners))
    await writeFile(join(folder, 'templates'), 'of all\n')
    const command = 'cat ~/templates; (echo x > ~/mine) 2>/dev/null || echo closed'
    for (const target of ['one.test', 'two.test']) {
      const [runId = 0] = await harness.submit([bash('a', command)], { targets: [target] })
      expect(await outputOf(runId)).toBe(isRoot ? 'of all\nclosed\n' : 'of all\n')
    }
  })
})

describe('Folders for tools', () => {
  const foldersBelow = (base: string) => toolFolders({ folders: { base }, workflows: { folders: [] } })

  test('are made, can be read by commands and functions, and come first in PATH', async () => {
    const folders = openToolFolders(foldersBelow(join(harness.folder, 'base')), undefined)
    await writeFile(join(folders.data, 'words.txt'), 'a\nb\n')
    await writeFile(join(folders.binaries, 'mytool'), '#!/bin/sh\necho tool of the operator\n', {
      mode: 0o755,
    })
    await using _executor = harness.executor({
      operatorInput: { env: {}, variables: {}, secrets: [], folders },
    })
    const [runId = 0] = await harness.submit({
      kind: 'module',
      dependencies: { commands: ['mytool'] },
      steps: [
        bash(
          'read',
          'mytool; cat {{Data}}/words.txt; ls -d {{ExternalScripts}} {{ExternalMarkdowns}} >/dev/null',
        ),
        { name: 'count', type: 'function', function: "file_length('{{ExternalData}}/words.txt')" },
        {
          name: 'write',
          type: 'function',
          function: "append_file('{{Data}}/words.txt', '{{Data}}/words.txt')",
        },
      ],
    })
    expect(await harness.ended(runId)).toMatchObject({ status: 'failed' })
    const [read, count, write] = await harness.steps(runId)
    expect(read?.output).toBe('tool of the operator\na\nb\n')
    expect(count?.output).toBe('2\n')
    expect(write?.error_message).toContain('may be read but not written')
  })

  ;(isRoot ? test : test.skip)('are elsewhere where the user of commands could not get to them', async () => {
    const closed = await mkdtemp(join(harness.folder, 'closed-'))
    const owner = { uid: 37_900, gid: 37_900 }
    const folders = openToolFolders(foldersBelow(join(closed, 'base')), owner)
    try {
      expect(folderProblems(folders, owner)).toEqual([])
      expect(await realpath(join(closed, 'base'))).toBe(folders.base)
      expect((await stat(folders.snapshots)).mode & 0o777).toBe(0o700)
      expect(openToolFolders(foldersBelow(join(closed, 'base')), owner)).toEqual(folders)
    } finally {
      await rm(folders.base, { recursive: true })
    }
  })

  test('that commands cannot enter are reported with their setting', async () => {
    const folders = openToolFolders(foldersBelow(join(harness.folder, 'problem')), undefined)
    await chmod(folders.agentConfigs, 0o700)
    const problems = folderProblems(folders, { uid: 37_901, gid: 37_901 })
    expect(problems).toEqual([expect.stringContaining('folders.base: commands cannot enter')])
  })
})
