import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { Runner } from '@scanfarm/contracts'
import { useRuns } from '../harness/runs.ts'
import { hostRunner } from '../harness/host-runner.ts'

const { run } = useRuns()

describe('a module', () => {
  test('a module runs its steps in order and records each of them', async () => {
    const { status, recorder, output } = await run(`
kind: module
name: greet
params:
  - {name: greeting, default: hello}
  - {name: file, default: "{{Output}}/{{greeting}}.txt"}
steps:
  - name: write
    type: bash
    command: echo "{{greeting}} {{Target}}" > {{file}}
  - name: read
    type: bash
    commands: ["cat {{file}}", "echo second >&2"]
    exports: {said: stdout, code: exit_code, both: "{{output}}"}
  - name: use
    type: bash
    command: printf '%s|' {{said}} "{{code}}" {{both}}
reports:
  - {name: greeting, path: "{{file}}", type: text}
  - {name: nowhere, path: nowhere.txt, type: text}
`)
    expect(status).toBe('completed')
    expect(recorder.story).toEqual(['write completed', 'read completed', 'use completed'])
    expect(readFileSync(`${output}/hello.txt`, 'utf8')).toBe('hello example.com\n')
    expect(recorder.byName('read').exports).toEqual({
      said: 'hello example.com',
      code: '0',
      both: 'hello example.com\nsecond',
    })
    expect(recorder.byName('use').output).toBe('hello example.com|0|hello example.com\nsecond|')
    expect([recorder.total, recorder.completed]).toEqual([3, 3])
    expect(recorder.steps.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(recorder.pid).toBe(0)
    expect(recorder.artifacts).toEqual([
      { name: 'greeting', path: `${output}/hello.txt`, type: 'report', contentType: 'txt', description: '' },
      {
        name: 'run state',
        path: `${output}/run-state.json`,
        type: 'state_file',
        contentType: 'json',
        description: '',
      },
    ])
    expect(recorder.lines).toEqual([`warn: report 'nowhere' is missing: ${output}/nowhere.txt`])
  })

  test('a module ends with the first failed step, unless that step has on_error: continue', async () => {
    const { status, errorMessage, recorder } = await run(`
kind: module
name: fails
steps:
  - {name: tolerated, type: bash, command: exit 3, on_error: [{action: continue}]}
  - {name: fatal, type: bash, command: "echo no; exit 4"}
  - {name: never, type: bash, command: echo}
`)
    expect([status, errorMessage]).toEqual(['failed', 'command exited with code 4'])
    expect(recorder.story).toEqual(['tolerated failed', 'fatal failed', 'never skipped'])
    expect(recorder.byName('never').errorMessage).toBe("step 'fatal' failed before")
    expect(recorder.completed).toBe(2)
    expect(recorder.byName('fatal')).toMatchObject({
      exitCode: 4,
      output: 'no\n',
      errorMessage: 'command exited with code 4',
    })
  })

  test('a module skips steps whose condition is false and records the reason', async () => {
    const { status, recorder } = await run(
      `
kind: module
name: conditions
params:
  - {name: deep, type: bool, default: false}
steps:
  - {name: a, type: bash, command: echo, pre_condition: "{{deep}}"}
  - {name: b, type: bash, command: echo, pre_condition: "!{{deep}} && Target == 'example.com'"}
  - {name: c, type: bash, command: echo, pre_condition: 'file_length("{{Output}}/none") > 0'}
  - {name: d, type: bash, command: echo, pre_condition: 'missing.x > 1', on_error: [{action: continue}]}
`,
    )
    expect(status).toBe('completed')
    expect(recorder.story).toEqual(['a skipped', 'b completed', 'c skipped', 'd failed'])
    expect(recorder.byName('d').errorMessage).toContain('pre-condition evaluation failed: ReferenceError')
    expect(recorder.byName('a').errorMessage).toBe('pre-condition is false')
    expect(recorder.completed).toBe(4)
  })

  test('a module with reports writes its state file when it completes, and only then', async () => {
    const text = (more: string): string => `
kind: module
name: stated
params: [{name: depth, default: "1"}]
steps:
  - {name: a, type: bash, command: 'echo x > {{Output}}/x.txt; ln -s /etc/hostname {{Output}}/run-state.json; ${more}'}
  - {name: b, type: bash, pre_condition: "false", command: "true"}
reports: [{name: x, path: '{{StateFile}}x', optional: true}, {name: y, path: x.txt, type: text}]
`
    const { output, recorder } = await run(text('true'), {
      params: { depth: '2', key: 'hush' },
      secrets: ['hush'],
    })
    const state: unknown = JSON.parse(readFileSync(join(output, 'run-state.json'), 'utf8'))
    expect(state).toMatchObject({
      run: {
        run_uuid: '6f0e3a52-0d7c-4b43-9b43-1f2f6f0f2f11',
        workflow_name: 'stated',
        workflow_kind: 'module',
        target: 'example.com',
        params: { depth: '2', key: '***' },
        status: 'completed',
        total_steps: 2,
        completed_steps: 2,
      },
      workspace: { name: 'example.com', local_path: output },
      artifacts: [{ name: 'y', artifact_type: 'report', content_type: 'txt' }],
    })
    expect(JSON.parse(readFileSync(join(output, 'run-completed.json'), 'utf8'))).toEqual(state)
    expect(recorder.artifacts.at(-1)).toMatchObject({ name: 'run state', type: 'state_file' })
    expect(lstatSync(join(output, 'run-state.json')).isSymbolicLink()).toBe(false)

    const again = await run(text('exit 3'), { folders: { output, temp: join(output, 'tmp') } })
    expect(again.status).toBe('failed')
    expect(existsSync(join(output, 'run-completed.json'))).toBe(false)
    const plain = await run('kind: module\nname: plain\nsteps: [{name: a, type: bash, command: "true"}]\n')
    expect(existsSync(join(plain.output, 'run-state.json'))).toBe(false)
  })

  test('a module stops commands that exceed their time limit', async () => {
    const { status, errorMessage, killedPids } = await run(`
kind: module
name: slow
steps:
  - {name: wait, type: bash, command: sleep 60, timeout: 0.2}
`)
    expect([status, errorMessage]).toEqual(['failed', 'command timed out after 0.2s'])
    expect(killedPids).toHaveLength(1)
  })

  test('parallel commands all run, and their outputs keep the order of the list', async () => {
    const { recorder, output } = await run(`
kind: module
name: parallel
steps:
  - name: both
    type: bash
    parallel_commands: ["sleep 0.1; echo one", "echo two; exit 2", "touch {{Output}}/three"]
    std_file: "{{Output}}/logs/std.txt"
    on_error: [{action: continue}]
`)
    expect(recorder.byName('both')).toMatchObject({ status: 'failed', exitCode: 2 })
    expect(existsSync(`${output}/three`)).toBe(true)
    expect(readFileSync(`${output}/logs/std.txt`, 'utf8').split('\n').sort()).toEqual(['', 'one', 'two'])
  })

  test('a module fails without a required param', async () => {
    const { status, errorMessage, recorder } = await run(`
kind: module
name: needs
params: [{name: wordlist, required: true}]
steps: [{name: a, type: bash, command: echo}]
`)
    expect([status, errorMessage]).toEqual(['failed', 'required parameter missing: wordlist'])
    expect(recorder.story).toEqual(['a skipped'])
    expect(recorder.completed).toBe(0)
  })

  test('a declared param with the name of a system variable gets its value', async () => {
    const declared = `
params:
  - {name: target, required: true, type: string, default: other.example}
  - {name: Target, required: true}
  - {name: Output, required: true}
  - {name: threads, required: true, type: int}
  - {name: TaskDate, required: true}
  - {name: baseThreads, default: 3}
steps: [{name: show, type: bash, command: "echo {{target}} {{Target}} {{Output}} {{threads}} {{baseThreads}}"}]
`
    const files = {
      'f.yaml': 'kind: flow\nname: f\nmodules: [{name: m, path: m.yaml}]',
      'm.yaml': `kind: module\nname: m${declared}`,
    }
    const alone = await run(files['m.yaml'])
    expect(alone.errorMessage).toBe('')
    expect(alone.recorder.byName('show').output.trim()).toBe(`example.com example.com ${alone.output} 10 3`)
    const inFlow = await run(files)
    expect(inFlow.errorMessage).toBe('')
    expect(inFlow.recorder.byName('show').output.trim()).toBe(`example.com example.com ${inFlow.output} 10 5`)
  })

  test('the default of a declared target applies only without a target', async () => {
    const text = `
kind: module
name: m
params: [{name: target, default: other.example}]
steps: [{name: show, type: bash, command: "echo {{target}}"}]
`
    expect((await run(text)).recorder.byName('show').output.trim()).toBe('example.com')
    expect((await run(text, { target: '' })).recorder.byName('show').output.trim()).toBe('other.example')
    const needed = text.replace('default: other.example', 'required: true')
    expect(await run(needed, { target: '' })).toMatchObject({
      status: 'failed',
      errorMessage: 'required parameter missing: target',
    })
  })

  test('steps with the same name all run, and references mean the last one', async () => {
    const { recorder, status } = await run(`
kind: module
name: twice
steps:
  - {name: start, type: bash, command: echo start, decision: {switch: x, cases: {x: {goto: same}}}}
  - {name: same, type: bash, command: "touch {{Output}}/first"}
  - {name: same, type: bash, command: "touch {{Output}}/second", on_error: [{message: no action}]}
`)
    expect(status).toBe('completed')
    expect(recorder.steps.map(({ name, status: of }) => [name, of])).toEqual([
      ['start', 'completed'],
      ['same', 'completed'],
      ['same', 'skipped'],
    ])
    const graph = await run(`
kind: module
name: graph
steps:
  - {name: after, type: bash, command: "cat {{Output}}/both", depends_on: [same]}
  - {name: same, type: bash, command: "echo first >> {{Output}}/both"}
  - {name: same, type: bash, command: "echo second >> {{Output}}/both", depends_on: [before]}
  - {name: before, type: bash, command: sleep 0.2}
`)
    expect(graph.status).toBe('completed')
    expect(graph.recorder.byName('after').output.trim()).toBe('first\nsecond')
  })

  test('exports can call JavaScript functions', async () => {
    const { recorder } = await run(`
kind: module
name: script
steps:
  - {name: a, type: bash, command: "echo 7", exports: {half: "Math.floor(Number(stdout) / 2)", agent: "Mozilla/5.0 (X11; Linux)"}}
`)
    expect(recorder.byName('a').exports).toMatchObject({ half: '3', agent: 'Mozilla/5.0 (X11; Linux)' })
  })

  test('empty reports and actions are ignored', async () => {
    const { recorder, status, errorMessage } = await run(`
kind: module
name: loose
reports: [{name: nowhere}, {name: r, path: "{{Output}}/r", type: odd}]
steps:
  - {name: a, type: bash, command: "touch {{Output}}/r", on_success: [{message: x}, {action: other}, {action: export, name: b, value: c}]}
  - {name: show, type: bash, command: "echo {{b}}"}
`)
    expect([status, errorMessage]).toEqual(['completed', ''])
    expect(recorder.byName('show').output.trim()).toBe('c')
    expect(recorder.artifacts.map(({ name }) => name)).toContain('r')
  })

  test('targets, params and outputs are never executed as shell code', async () => {
    const { recorder } = await run(
      `
kind: module
name: hostile
params:
  - {name: opts, default: "-a {{Target}} \\"q {{Target}}\\""}
steps:
  - {name: out, type: bash, command: "printf '%s' '$(touch pwned); \`id\` \\"'", exports: {x: stdout, mixed: "-m {{stdout}}"}}
  - {name: show, type: bash, command: "printf '[%s]' {{x}} \\"{{x}}\\" {{opts}} {{flags}} {{mixed}}"}
`,
      { target: 'http://h/?a=1&b=2#c', params: { flags: '-t 5 "a' } },
    )
    const value = '$(touch pwned); `id` "'
    const target = 'http://h/?a=1&b=2#c'
    expect(recorder.byName('show').output).toBe(
      ['', value, value, '-a', target, `q ${target}`, '-t', '5', '"a', '-m', value].join('][').slice(1) + ']',
    )
  })
})

/** Tells when a command has printed something: it runs. */
const reporting = (onOutput: () => void): Runner => {
  const runner = hostRunner()
  return {
    ...runner,
    run: (command, io) =>
      runner.run(command, { ...io, onOutput: (...output) => (onOutput(), io.onOutput?.(...output)) }),
  }
}

describe('a cancelled run', () => {
  test('a cancelled run kills its processes, records its step as cancelled and starts no other', async () => {
    const abort = new AbortController()
    const { status, killedPids, recorder } = await run(
      `
kind: module
name: long
steps:
  - {name: wait, type: bash, command: "echo started; sleep 60"}
  - {name: never, type: bash, command: echo}
`,
      { signal: abort.signal, openRunner: async () => reporting(() => abort.abort('cancel')) },
    )
    expect(status).toBe('cancelled')
    expect(recorder.story).toEqual(['wait cancelled'])
    expect(killedPids).toHaveLength(1)
  })

  test('a run that is aborted by its time limit fails', async () => {
    const abort = new AbortController()
    const { status, errorMessage, recorder } = await run(
      `
kind: module
name: long
steps: [{name: wait, type: bash, command: "echo started; sleep 60"}]
`,
      { signal: abort.signal, openRunner: async () => reporting(() => abort.abort('timeout')) },
    )
    expect([status, errorMessage]).toEqual(['failed', 'the run timed out'])
    expect(recorder.byName('wait')).toMatchObject({
      status: 'failed',
      errorMessage: 'interrupted: the run timed out',
    })
  })
})

describe('a flow', () => {
  const modules = {
    'main.yaml': `
kind: flow
name: main
params:
  - {name: mode, default: fast}
modules:
  - {name: last, path: modules/report.yaml, depends_on: [probe, broken], params: {title: "of {{Target}}"}}
  - {name: probe, path: modules/probe.yaml}
  - {name: broken, path: broken-module}
  - {name: off, path: modules/probe.yaml, condition: "mode == 'full'"}
  - {name: inline, steps: [{name: here, type: bash, command: "echo {{FlowName}}"}], depends_on: [probe]}
`,
    'modules/probe.yaml': `
kind: module
name: probe
params: [{name: mode, default: other}]
steps:
  - {name: find, type: bash, command: "printf 80,443; echo {{mode}} >&2", exports: {ports: stdout}}
`,
    'modules/broken-module.yaml': `
kind: module
name: broken
steps: [{name: fail, type: bash, command: exit 1, exports: {lost: "x"}}]
`,
    'modules/report.yaml': `
kind: module
name: report
params: [{name: title}]
steps:
  - {name: print, type: bash, command: 'echo {{title}} {{ports}} {{ModuleName}}'}
`,
  }

  test('a flow runs modules after their dependencies and passes on params and exports', async () => {
    const { status, recorder } = await run(modules)
    expect(status).toBe('completed')
    expect(recorder.steps.find(({ module }) => module === 'probe')?.output).toContain('fast')
    expect(recorder.byName('print')).toMatchObject({
      module: 'last',
      output: 'of example.com 80,443 report\n',
    })
    expect(recorder.byName('here').output).toBe('main\n')
    expect(recorder.story).toContain('fail failed')
    expect(recorder.steps.at(-1)?.name).not.toBe('find')
    expect(recorder.story).toContain('find skipped')
    expect([recorder.total, recorder.completed]).toEqual([5, 5])
    expect(recorder.lines).toContain('warn: module broken failed: command exited with code 1')
  })

  test('a flow fails when none of its modules completes', async () => {
    const { status, errorMessage } = await run({
      'main.yaml': 'kind: flow\nname: main\nmodules: [{name: broken, path: broken-module}]',
      'broken-module.yaml': modules['modules/broken-module.yaml'],
    })
    expect([status, errorMessage]).toEqual(['failed', 'module broken failed: command exited with code 1'])
  })
})
