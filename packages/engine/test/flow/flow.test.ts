import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { RunnerUnavailableError, type Runner, type RunnerSpec } from '@scanfarm/contracts'
import { BUILTIN_NAMES, SOMETIMES_NAMES, resolveWorkflow } from '@scanfarm/language'
import { Builtins } from '../../src/flow/builtins.ts'
import type { ExecuteInput } from '../../src/input.ts'
import { targetSpace, targetVariables } from '@scanfarm/functions'
import { openLibrary } from '../../src/library/open-library.ts'
import { requirements, runnerOf, runnerProblems } from '../../src/requirements.ts'
import { hostRunner } from '../harness/host-runner.ts'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

const step = (name: string, command: string): string =>
  `kind: module\nname: ${name}\nsteps: [{name: ${name}-step, type: bash, command: '${command}'}]\n`

test('of several modules with the same name, a flow runs the last', async () => {
  const { recorder, status } = await run({
    'f.yaml': `
kind: flow
name: f
modules:
  - {name: m, path: none.yaml}
  - {name: n, depends_on: [m], steps: [{type: bash, command: echo n}]}
  - {name: m, steps: [{type: bash, command: echo m}]}
`,
  })
  expect(status).toBe('completed')
  expect(recorder.steps.map(({ output }) => output.trim())).toEqual(['m', 'n'])
})

describe('modules of a flow', () => {
  test('independent modules run in parallel up to the limit', async () => {
    const log = join(folder(), 'order')
    // Each waits until two have begun: one after the other would end the first before the second begins.
    const two = `n=0; until [ $(grep -c start ${log}) -ge 2 ] || [ $n -ge 500 ]; do n=$((n + 1)); sleep 0.02; done`
    const file = step('m', `echo start >> ${log}; ${two}; echo end >> ${log}`)
    const refs = ['a', 'b', 'c'].map((name) => `{name: ${name}, path: m}`).join(', ')
    const { status } = await run(
      { 'main.yaml': `kind: flow\nname: main\nmodules: [${refs}]\n`, 'm.yaml': file },
      { limits: { parallelModules: 2 } },
    )
    expect(status).toBe('completed')
    const order = readFileSync(log, 'utf8').trim().split('\n')
    expect(order.slice(0, 2)).toEqual(['start', 'start'])
    let open = 0
    for (const line of order) {
      open += line === 'start' ? 1 : -1
      expect(open).toBeLessThanOrEqual(2)
    }
  })

  test('modules divide a rate, so that they may wait for each other, also by their actions', async () => {
    const meet = (own: string, other: string) =>
      step('m', `touch ${own}; until [ -e ${other} ]; do sleep 0.01; done; echo {{Rate}}`)
    const { status, recorder } = await run(
      {
        'main.yaml': `
kind: flow
name: main
modules:
  - {name: a, path: a}
  - {name: b, path: b, depends_on: [a]}
  - {name: c, path: c, depends_on: [a], on_success: [{action: run, type: bash, command: "echo {{Rate}}; touch d"}]}
`,
        'a.yaml': step('m', 'echo {{Rate}}'),
        'b.yaml': meet('b', 'd'),
        'c.yaml': meet('c', 'b'),
      },
      { rate: 5 },
    )
    expect(status).toBe('completed')
    expect(recorder.steps.map(({ output }) => output.trim()).sort()).toEqual(['2', '2', '2', '5'])
  })

  test('modules are left out by name or condition, their steps record the reason, and their actions run', async () => {
    const { status, recorder } = await run(
      {
        'main.yaml': `
kind: flow
name: main
hooks:
  pre_scan_steps: [{name: before, command: "printf yes", exports: {ready: stdout}}]
  post_scan_steps: [{name: after, type: function, function: 'log_info("over")'}]
modules:
  - {name: a, path: m, on_success: [{action: export, name: from_a, value: "A{{ready}}"}, {action: notify, notify: "a is done"}]}
  - {name: b, path: m, depends_on: [a], condition: "{{from_a}} == 'Ayes'"}
  - {name: c, path: m, condition: "{{from_a}} == 'Ayes' && missing.x"}
  - {name: d, path: m}
reports: [{name: r, path: out.txt, optional: true}]
`,
        'm.yaml': step('m', 'echo "{{ready}}"'),
      },
      { params: { exclude_modules: 'd' } },
    )
    expect(status).toBe('completed')
    expect(recorder.byName('before').counts).toBe(false)
    const rows = recorder.steps
      .filter(({ name }) => name === 'm-step')
      .map(({ module, status: s, errorMessage }) => `${module} ${s} ${errorMessage}`.trim())
    expect(rows.sort()).toEqual([
      'a completed',
      'b completed',
      "c skipped the condition of the module is false: {{from_a}} == 'Ayes' && missing.x",
      'd skipped the module is excluded',
    ])
    expect(recorder.events).toHaveLength(1)
    expect([recorder.total, recorder.completed]).toEqual([4, 4])
  })

  test('a failed module with the action abort ends the flow', async () => {
    const { status, errorMessage, recorder } = await run({
      'main.yaml': `
kind: flow
name: main
modules:
  - {name: good, path: good}
  - {name: bad, path: bad, depends_on: [good], on_error: [{action: log, message: "it is {{Target}}"}, {action: abort}]}
  - {name: never, path: good, depends_on: [bad]}
`,
      'good.yaml': step('good', 'true'),
      'bad.yaml': step('bad', 'exit 2'),
    })
    expect([status, errorMessage]).toEqual(['failed', 'module bad failed: command exited with code 2'])
    expect(recorder.story).toEqual(['good-step completed', 'bad-step failed', 'good-step skipped'])
    expect(recorder.lines).toContain('warn: it is example.com')
  })

  test('exports of modules keep booleans, and params of a reference take precedence', async () => {
    const { recorder } = await run(
      {
        'main.yaml': `
kind: flow
name: main
params: [{name: deep, type: bool, default: "true"}, {name: label, default: flow}]
modules:
  - {name: a, path: m}
  - {name: b, path: m, params: {deep: "false", label: "{{label}}-b"}}
`,
        'm.yaml': `
kind: module
name: m
params: [{name: deep, type: bool, default: false}, {name: label, default: module}]
steps:
  - {name: show, type: bash, command: "echo {{label}}", pre_condition: "{{deep}} === true"}
  - {name: other, type: bash, command: "echo not {{label}}", pre_condition: "!{{deep}}"}
`,
      },
      { limits: { parallelModules: 1 } },
    )
    expect(
      recorder.steps.map(({ module, name, status, output }) =>
        `${module} ${name} ${status} ${output}`.trim(),
      ),
    ).toEqual(['a show completed flow', 'a other skipped', 'b show skipped', 'b other completed not flow-b'])
  })
})

describe('a runner without shared files', () => {
  /** Commands see a copy of the run's folder; what they read and write goes there and back only when it is moved. */
  const farRunner = (home: string, moves: string[]): Runner => {
    const copy = join(home, '..', 'far')
    const near = hostRunner()
    return {
      ...near,
      type: 'ssh',
      sharesFiles: false,
      run: async (command, io) =>
        await near.run({ ...command, argv: command.argv.map((text) => text.replaceAll(home, copy)) }, io),
      push: async () => {
        moves.push('push')
        cpSync(home, copy, { recursive: true })
      },
      pull: async () => {
        moves.push('pull')
        cpSync(copy, home, { recursive: true })
      },
    }
  }

  test('a runner without shared files receives them before commands and returns them before this process reads them', async () => {
    const output = join(mkdtempSync(join(folder(), 'far-')), 'home')
    mkdirSync(output)
    const moves: string[] = []
    const { status, recorder } = await run(
      `
kind: module
name: main
runner: ssh
runner_config: {host: far}
steps:
  - {name: here, type: function, function: 'save_content("from here", "a.txt")'}
  - {name: there, type: bash, command: "cat {{Output}}/a.txt; echo there > {{Output}}/b.txt"}
  - {name: again, type: bash, command: "cat {{Output}}/b.txt"}
  - {name: back, type: function, function: 'read_file("b.txt")'}
reports: [{name: b, path: b.txt}]
`,
      {
        folders: { output, temp: `${output}/tmp` },
        openRunner: async (spec) => (spec.type === 'ssh' ? farRunner(output, moves) : hostRunner()),
      },
    )
    expect(status).toBe('completed')
    expect(recorder.byName('there').output).toContain('from here')
    expect(recorder.byName('back').output).toBe('there\n')
    expect(moves).toEqual(['push', 'pull'])
    expect(existsSync(join(output, 'b.txt'))).toBe(true)
  })

  test('an unreachable runner fails the run before its first step', async () => {
    const { status, errorMessage, recorder } = await run(
      'kind: module\nname: main\nrunner: ssh\nrunner_config: {host: "me@far:2222"}\nsteps: [{name: a, type: bash, command: x}]\n',
      {
        openRunner: async (spec) => {
          expect(spec).toMatchObject({ type: 'ssh', host: 'far', user: 'me', port: 2222 })
          throw new RunnerUnavailableError('far cannot be reached')
        },
      },
    )
    expect([status, errorMessage]).toEqual(['failed', 'far cannot be reached'])
    expect(recorder.story).toEqual(['a skipped'])
  })

  test('a remote-bash step opens its own runner and copies its file back', async () => {
    let closed = 0
    const { status, recorder, output } = await run(
      `
kind: module
name: main
steps:
  - name: far
    type: remote-bash
    step_runner: docker
    step_runner_config: {image: "img:{{tag}}", env: {A: "{{Target}}"}}
    command: "printf data > {{Output}}/remote.bin; echo ran"
    step_remote_file: "{{Output}}/remote.bin"
    host_output_file: "{{Output}}/local/file.bin"
`,
      {
        params: { tag: '7' },
        openRunner: async (spec) => {
          expect(spec).toMatchObject({ type: 'docker', image: 'img:7', env: { A: 'example.com' } })
          return { ...hostRunner(), type: 'docker', [Symbol.asyncDispose]: async () => void closed++ }
        },
      },
    )
    expect([status, closed]).toEqual(['completed', 1])
    expect(recorder.byName('far').output).toBe('ran\n')
    expect(readFileSync(`${output}/local/file.bin`, 'utf8')).toBe('data')
  })
})

describe('variables of every run', () => {
  test('the variables of a run are those that the checker knows', () => {
    const input = {
      params: {},
      target: 'example.com',
      workspace: 'w',
      folders: { output: '/o', temp: '/t' },
      runUuid: 'u',
      runId: 1,
      eventEnvelope: '{"topic": "t"}',
    } satisfies Partial<ExecuteInput>
    const ports = { now: () => new Date(0), monotonic: () => 0, random: () => 0.5, uuid: () => 'u' }
    const known = new Set([...BUILTIN_NAMES, ...SOMETIMES_NAMES])
    const set = new Builtins(input, ports).names()
    expect(set.filter((name) => !known.has(name))).toEqual([])
    const later = ['ModuleName']
    expect(BUILTIN_NAMES.filter((name) => !set.includes(name) && !later.includes(name))).toEqual([])
  })

  test('variables about the target are derived from it', () => {
    expect(targetVariables('https://u.example.co.uk:8443/a/b.php?x=1')).toMatchObject({
      TargetType: 'url',
      TargetHost: 'u.example.co.uk',
      TargetPort: '8443',
      TargetRootURL: 'https://u.example.co.uk:8443',
      TargetRootDomain: 'example.co.uk',
      TargetSLD: 'example',
      TargetPath: '/a',
      TargetFileExt: 'b.php',
    })
    expect(targetVariables('https://github.com/a/b.git')).toMatchObject({ TargetRepoSlug: 'a__b' })
    expect(targetVariables('10.0.0.0/8')).toEqual({ TargetType: 'cidr' })
    expect(targetVariables('[::1]')).toMatchObject({ TargetType: 'ip' })
    expect(targetSpace('example.com')).toBe('example.com')
    expect(targetSpace('http://a/b')).toMatch(/^a_b-[0-9a-f]{12}$/)
    expect(targetSpace('a_b')).not.toBe(targetSpace('http://a/b'))
  })

  test('variables of the event are available under their names', async () => {
    writeFileSync(join(folder(), 'x'), '')
    const { recorder } = await run(
      'kind: module\nname: m\nsteps: [{name: a, type: bash, command: "printf %s {{EventTopic}}/{{EventData}}"}]\n',
      {
        eventEnvelope: JSON.stringify({ topic: 'assets.new', data: { host: '$(id)' } }),
      },
    )
    expect(recorder.byName('a').output).toBe('assets.new/{"host":"$(id)"}')
  })
})

describe('the runner of a flow', () => {
  const flow = (modules: string): string => `
kind: flow
name: main
runner: docker
runner_config: {image: "flow:1", env: {A: flow, B: flow}}
hooks:
  pre_scan_steps: [{name: before, type: bash, command: echo hook}]
dependencies: {commands: [sh]}
modules: ${modules}
`
  const runnersOf = async (files: Record<string, string>, more: Partial<ExecuteInput> = {}) => {
    const opened: RunnerSpec[] = []
    const reported: string[] = []
    const { status, errorMessage } = await run(files, {
      openRunner: async (spec) => {
        opened.push(spec)
        return { ...hostRunner(), type: spec.type }
      },
      onRunner: (module, { type }) => void reported.push(`${module} ${type}`),
      ...more,
    })
    expect([status, errorMessage]).toEqual(['completed', ''])
    return { opened, reported: reported.sort() }
  }

  test('the runner of a flow applies to modules without their own', async () => {
    const { opened, reported } = await runnersOf({
      'main.yaml': flow(`
  - {name: one, path: one}
  - {name: two, steps: [{name: x, type: bash, command: "true"}], runner_config: {env: {B: two}}}
  - {name: here, path: here}
`),
      'one.yaml': step('one', 'true'),
      'here.yaml': step('here', 'true') + 'runner: host\n',
    })
    expect(reported).toEqual(['here host', 'one docker', 'two docker'])
    expect(opened).toContainEqual({ type: 'docker', image: 'flow:1', env: { A: 'flow', B: 'flow' } })
    expect(opened).toContainEqual({ type: 'docker', image: 'flow:1', env: { A: 'flow', B: 'two' } })
  })

  test('a flow inherits the runner of its parent and can override it', async () => {
    const files = {
      'child.yaml':
        'kind: flow\nname: child\nextends: main\noverride: {runner: docker, runner_config: {image: "child:2"}}\n',
      'main.yaml': flow('[{name: one, path: one}]').replace(/runner.*\n/g, ''),
      'one.yaml': step('one', 'true'),
    }
    const { opened } = await runnersOf(files)
    expect(opened).toContainEqual({ type: 'docker', image: 'child:2' })
  })

  test('the runner that the caller chooses overrides that of a flow', async () => {
    const files = { 'main.yaml': flow('[{name: one, path: one}]'), 'one.yaml': step('one', 'true') }
    const host = await runnersOf(files, { runnerChoice: { type: 'host' } })
    expect(host.opened).toEqual([{ type: 'host' }])
    const { opened } = await runnersOf(files, { runnerChoice: { type: 'docker', dockerImage: 'asked:3' } })
    expect(opened).toContainEqual({ type: 'docker', image: 'asked:3', env: { A: 'flow', B: 'flow' } })
  })

  test('the runner of a flow determines the capabilities that a worker needs', async () => {
    const library = await openLibrary([])
    await library.put('main.yaml', flow('[{name: one, path: one}, {name: two, path: one}]'))
    await library.put('one.yaml', step('one', 'true') + 'dependencies: {commands: [nmap]}\n')
    const resolved = resolveWorkflow(library, { name: 'main', kind: 'flow' })
    expect([runnerOf(resolved), requirements(resolved)]).toEqual(['docker', ['docker']])
    expect(requirements(resolved, { runner: 'host' })).toEqual(['tool:nmap', 'tool:sh'])
    expect(runnerProblems(resolved, { type: 'ssh' })).toHaveLength(3)
    expect(runnerProblems(resolved, { type: 'docker' })).toEqual([])
  })
})
