import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { call, farm, watchFarm } from '../farm/attacked-farm.ts'
import { ended, runOf, runToEnd, stepNamed, submit, uploadModule, type EndedRun } from '../farm/runs.ts'
import { pathCalls } from '../hostile/path-functions.ts'

const CONTINUE = [{ action: 'continue' }]
const MARKER = 'sfx_marker_of_a_file_outside'
/** All users of the machine may read this file, but no workflow or setting allows it. */
const outside = join(farm.canaries, 'outside.txt')
const written = join(farm.canaries, 'written.txt')

const SECRETS = [
  farm.workerSecret,
  farm.tokens.initial,
  farm.databaseUrl,
  farm.redisUrl,
  ...[new URL(farm.databaseUrl).password].filter((password) => password !== ''),
]

const logOf = async (run: EndedRun): Promise<string> => {
  const { json } = await call('get', `/runs/${run.id}/artifacts`)
  const found = (json?.['data'] ?? []) as { id: string; name: string }[]
  const bodies = found.map(({ id }) => call('get', `/runs/${run.id}/artifacts/${id}/content`))
  return (await Promise.all(bodies)).map(({ text }) => text).join('\n')
}

const step = (name: string, command: string) => ({ name, type: 'bash', command, on_error: CONTINUE })

beforeAll(() => {
  writeFileSync(outside, `${MARKER}\n`, { mode: 0o644 })
})
afterAll(() => {
  rmSync(outside, { force: true })
})

const RUNNERS = {
  host: {},
  docker: { runner: 'docker', runner_config: { image: farm.image } },
} as const

describe.each(['host', 'docker'] as const)('a step on the runner %s', (runner) => {
  let run: EndedRun

  beforeAll(async () => {
    const module = await uploadModule(`curious-${runner}`, {
      ...RUNNERS[runner],
      steps: [
        step(
          'environments',
          `for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < "$f"; done 2>/dev/null; env; true`,
        ),
        step(
          'command lines',
          `for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < "$f"; echo; done 2>/dev/null; true`,
        ),
        step(
          'parents',
          'p=$$; while [ "${p:-0}" -gt 1 ]; do cat /proc/$p/environ /proc/$p/maps 2>/dev/null | tr "\\0" "\\n"; p=$(awk \'/^PPid/ {print $2}\' /proc/$p/status); done; true',
        ),
        step('descriptors', 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -v "/dev/\\|pipe:\\|socket:" ; true'),
        step(
          'tokens',
          `cat ${farm.folder}/*/admin-token ${farm.folder}/*/*.yaml ${farm.folder}/*.log 2>/dev/null; true`,
        ),
        step(
          'data folders',
          `ls ${farm.folder}/master-1 ${farm.folder}/worker-1 ${farm.folder}/worker-2 2>/dev/null; true`,
        ),
        step('shadow', 'cat /etc/shadow 2>/dev/null | grep -v "^$" | head -3; true'),
        step(
          'docker',
          'ls -l /var/run/docker.sock >/dev/null 2>&1 && echo | timeout 2 nc -U /var/run/docker.sock && echo REACHED; true',
        ),
        step('who', 'id -u'),
        step('kill', 'kill -9 $PPID 2>/dev/null; kill -9 1 2>/dev/null; echo alive'),
        step('kill all', 'kill -9 -1'),
      ],
    })
    run = await runToEnd({ module })
  })

  test('A step finds no secret of the worker or the master', async () => {
    const output = JSON.stringify(run) + (await logOf(run))
    for (const secret of SECRETS) expect(output).not.toContain(secret)
  })

  test('A step cannot read the data folders', () => {
    expect(stepNamed(run, 'data folders').output).toBe('')
    expect(stepNamed(run, 'tokens').output).toBe('')
  })

  test('A step does not have the rights of the worker', () => {
    if (runner === 'host') {
      expect(stepNamed(run, 'who').output.trim()).toMatch(/^[1-9]\d*$/)
      expect(stepNamed(run, 'shadow').output).toBe('')
    }
    expect(stepNamed(run, 'docker').output).not.toContain('REACHED')
  })

  test('A step kills neither the worker nor other runs', async () => {
    for (const pid of [farm.master, ...farm.workers]) expect(existsSync(`/proc/${pid}`)).toBe(true)
    const module = await uploadModule('after-the-kill', { steps: [step('there', 'echo there')] })
    const after = await Promise.all(Array.from({ length: 4 }, () => runToEnd({ module })))
    expect(after.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  })
})

describe('runs of two workspaces', () => {
  test('Runs of one workspace cannot read or change another workspace', async () => {
    const victim = await uploadModule('victim', {
      steps: [
        step(
          'keep',
          `umask 000; echo ${MARKER} > {{Output}}/kept.txt; echo ${MARKER} > kept.txt; chmod 666 {{Output}}/kept.txt kept.txt`,
        ),
        step('place', 'pwd; echo {{Output}}; echo $$'),
        {
          ...step('wait', 'for i in $(seq 600); do [ -e {{Output}}/go ] && exit 0; sleep 0.1; done'),
          env: {},
        },
      ].map(({ name, type, command, on_error }) => ({ name, type, command, on_error })),
    })
    const held = runOf(await submit({ module: victim, target: 'victim.test', workspace: 'victim' }))
    const placed = async (): Promise<string[]> => {
      const { json } = await call('get', `/runs/${held}/steps`)
      const rows = (json?.['data'] ?? []) as { step_name: string; status: string; output: string }[]
      const found = rows.find(({ step_name, status }) => step_name === 'place' && status === 'completed')
      return found?.output.trim().split('\n') ?? []
    }
    const deadline = Date.now() + 60_000
    let place = await placed()
    while (place.length < 2 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      place = await placed()
    }
    const [folder = '', output = ''] = place
    expect(output).toContain('victim')
    const thief = await uploadModule('thief', {
      params: ['folder', 'output'].map((name) => ({ name, type: 'string' })),
      steps: [
        step('read', 'cat "{{folder}}/kept.txt" "{{output}}/kept.txt" 2>/dev/null; true'),
        step('list', 'ls "{{folder}}" "{{output}}" 2>/dev/null; true'),
        step('search', `grep -rs ${MARKER} /proc/[0-9]*/cwd/ /proc/[0-9]*/root${output} 2>/dev/null; true`),
        step('write', 'echo stolen > "{{output}}/go"; echo stolen > "{{output}}/kept.txt"; true'),
        {
          name: 'function',
          type: 'function',
          function: 'read_file("{{output}}/kept.txt")',
          on_error: CONTINUE,
        },
        step('end', 'kill -9 -1'),
      ],
    })
    // Enough runs for both workers: one of them executes the victim.
    const thieves = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        runToEnd({ module: thief, workspace: `thief-${number}`, params: { folder, output } }),
      ),
    )
    for (const run of thieves) {
      const outputs = run.steps.map(({ output: text, exports }) => text + JSON.stringify(exports)).join('\n')
      expect(outputs).not.toContain(MARKER)
      expect(stepNamed(run, 'list').output).toBe('')
    }
    expect(existsSync(join(output, 'go'))).toBe(false)
    expect(readFileSync(join(output, 'kept.txt'), 'utf8')).toBe(`${MARKER}\n`)
    writeFileSync(join(output, 'go'), '')
    expect((await ended(held)).status).toBe('completed')
  })
})

describe('files that a param names', () => {
  const calls = pathCalls()

  test('Many functions with a path are tested', () => {
    expect(calls.length).toBeGreaterThan(60)
  })

  const attack = async (name: string, file: string): Promise<EndedRun> => {
    const module = await uploadModule(name, {
      params: ['file', 'written'].map((param) => ({ name: param, type: 'string' })),
      steps: [
        step(
          'link',
          `echo own > {{Output}}/own.txt; ln -s "${outside}" {{Output}}/link; ln -s "${farm.canaries}" {{Output}}/folder; true`,
        ),
        ...calls.map(({ name: called, code }) => ({
          name: called,
          type: 'function',
          function: code,
          timeout: '5s',
          on_error: CONTINUE,
        })),
        {
          name: 'loop',
          type: 'foreach',
          input: '{{file}}',
          variable: 'line',
          step: step('each', 'echo "{{line}}" >> {{Output}}/lines.txt'),
          on_error: CONTINUE,
        },
        // Option -r does not follow links below the folder.
        step('copies', `grep -rl ${MARKER} {{Output}}; true`),
        { ...step('std file', 'echo x'), std_file: '{{written}}' },
      ],
      reports: [{ name: 'stolen', path: '{{file}}', type: 'text', optional: true }],
    })
    return await runToEnd({ module, params: { file, written } })
  }

  test.each([
    ['by an absolute path', outside],
    ['by a link in its own folder', '{{Output}}/link'],
    ['behind a linked folder', '{{Output}}/folder/outside.txt'],
    ['above its own folder', `{{Output}}/${'../'.repeat(20)}${outside}`],
    ['through its own root in /proc', `/proc/self/root${outside}`],
  ])('A file outside of the run is neither read nor written %s', async (_how, file) => {
    const name = `reader-${[...file].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 99_991, 7)}`
    // The folder of a run depends on its workspace, so another run determines it first.
    const run = await attack(name, file.replace('{{Output}}', `${await outputFolder(name)}`))
    const leaks = run.steps.filter(({ output, exports }) =>
      (output + JSON.stringify(exports)).includes(MARKER),
    )
    expect(leaks.map(({ step_name }) => step_name)).toEqual([])
    expect(stepNamed(run, 'copies').output).toBe('')
    expect(await logOf(run)).not.toContain(MARKER)
    expect(readFileSync(outside, 'utf8')).toBe(`${MARKER}\n`)
    expect(readdirSync(farm.canaries).filter((entry) => entry.startsWith('written'))).toEqual([])
  })
})

const folders = new Map<string, string>()

/** The output folder of runs in this workspace. */
async function outputFolder(workspace: string): Promise<string> {
  const known = folders.get(workspace)
  if (known !== undefined) return known
  const module = await uploadModule('where', { steps: [step('where', 'echo {{Output}}')] })
  const run = await runToEnd({ module, workspace })
  const folder = stepNamed(run, 'where').output.trim()
  folders.set(workspace, folder)
  return folder
}

describe('data folders', () => {
  const openPaths = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => (lstatSync(path).mode & (lstatSync(path).isDirectory() ? 0o022 : 0o066)) !== 0)

  test.each(['master-1', 'worker-1', 'worker-2'])('Other users cannot list the data folder of %s', (name) => {
    expect(lstatSync(join(farm.folder, name)).mode & 0o066).toBe(0)
  })

  test('Other users can read neither logs nor artifacts', () => {
    expect(openPaths(join(farm.folder, 'master-1'))).toEqual([])
    expect(lstatSync(join(farm.folder, 'artifacts')).mode & 0o066).toBe(0)
  })

  test('Logs contain no token', () => {
    for (const name of readdirSync(farm.folder).filter((file) => file.endsWith('.log')))
      for (const secret of [...SECRETS, ...Object.values(farm.tokens)])
        expect(readFileSync(join(farm.folder, name), 'utf8')).not.toContain(secret)
  })
})

watchFarm()
