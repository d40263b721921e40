import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'
import { MemoryRecorder } from '../harness/recorder.ts'
import type { KeptItems, ResumeService } from '../../src/flow/kept-unit.ts'
import { ItemOutputs } from '../../src/steps/item-outputs.ts'

const { run, folder } = useRuns()

const module = (steps: string, more = ''): string => `kind: module\nname: main\n${more}steps:\n${steps}`

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Of the heap, without garbage: what other suites of this process left is no matter of the test. */
const keptBytes = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}

describe('foreach', () => {
  test('foreach runs a step for each line, with the variables of the loop', async () => {
    const { status, recorder, output } = await run(
      module(`
  - {name: make, type: bash, command: "printf 'http://a/x\\n\\n  b c  \\nd' > {{Output}}/in"}
  - name: loop
    type: foreach
    input: "{{Output}}/in"
    variable: url
    threads: "{{ 1 + 1 }}"
    exports: {streaming_output: "{{Output}}/all.txt"}
    step:
      type: bash
      command: 'if [[ -n x ]] 2>/dev/null; then :; fi; printf "%s|%s|%s\\n" [[ url ]] [[_url_]] {{_id_}} >> {{Output}}/out; echo [[url]]'
`),
    )
    expect(status).toBe('completed')
    const lines = readFileSync(`${output}/out`, 'utf8').trim().split('\n').sort()
    expect(lines).toEqual(['b c|b c|2', 'd|d|3', 'http://a/x|http___a_x|1'])
    expect(readFileSync(`${output}/all.txt`, 'utf8').trim().split('\n').sort()).toEqual([
      'b c',
      'd',
      'http://a/x',
    ])
    expect(recorder.story).toEqual(['make completed', 'loop completed'])
    expect(recorder.byName('loop').exports).toMatchObject({ foreach_total: '3', foreach_failed: '0' })
    expect(recorder.byName('loop').command).toBe(
      `foreach ${output}/in\nif [[ -n x ]] 2>/dev/null; then :; fi; printf "%s|%s|%s\\n" [[ url ]] [[_url_]] {{_id_}} >> {{Output}}/out; echo [[url]]`,
    )
  })

  test('what is noted of a loop for another attempt counts and records exactly the items that have ended', async () => {
    const recorder = new MemoryRecorder()
    const noted: [ended: number, counted: number, failed: number, rows: number][] = []
    let take: (() => KeptItems) | undefined
    let ended = 0
    const resume: ResumeService = {
      find: () => undefined,
      takeOver: () => ({ counted: 0, artifacts: [] }),
      stop: () => {},
      begin: async () => {},
      end: async () => {},
      findItems: () => undefined,
      takeOverItems: () => {},
      openItems(_key, taken) {
        take = taken
        return true
      },
      async itemEnded() {
        const { ended: ranges = [], counts } = take?.() ?? {}
        for (const [first, last] of ranges) ended += last + 1 - first
        const { completed = 0, failed = 0 } = counts ?? {}
        const rows = recorder.steps.filter(({ name }) => name === 'item').length
        noted.push([ended, completed + failed, failed, rows])
        await Promise.resolve()
      },
      remember: async (_key, make) => await make(),
    }
    const { output } = await run(
      module(`
  - {name: make, type: bash, command: "printf 'bad\\nnext\\n' > {{Output}}/in; seq 20 >> {{Output}}/in"}
  - name: loop
    type: foreach
    input: "{{Output}}/in"
    variable: n
    threads: 4
    exports: {streaming_output: "{{Output}}/all.txt"}
    step:
      name: item
      type: bash
      command: 'cd {{Output}}; case [[n]] in bad) exit 1 ;; next) until [ -e acting ]; do sleep 0.01; done; touch over ;; *) echo [[n]] ;; esac'
      on_error:
        - {action: run, type: bash, command: 'cd {{Output}}; touch acting; until [ -e over ] && [ $(wc -l < all.txt) = 20 ]; do sleep 0.01; done'}
        - {action: continue}
`),
      { resume, recorder },
    )
    expect(readFileSync(`${output}/all.txt`, 'utf8').split('\n')).toHaveLength(21)
    expect(noted.map(([, counted, failed]) => [counted, failed])).toEqual(
      noted.map(([is, , , rows]) => [is, rows]),
    )
    expect(noted.at(-1)).toEqual([22, 22, 1, 1])
  })

  test('the command of foreach names what it executes, however its step says it', async () => {
    const { recorder, output } = await run(
      module(`
  - {name: make, type: bash, command: "echo 1 > {{Output}}/in"}
  - name: beside
    type: foreach
    input: "{{Output}}/in"
    variable: n
    step:
      type: parallel-steps
      parallel_steps:
        - {name: a, type: bash, commands: ['true a', 'true b']}
        - {name: b, type: function, function: 'trim("[[n]]")'}
        - {name: c, type: bash, command: 'true secret', suppress_details: true}
`),
    )
    const shown = `foreach ${output}/in\ntrue a\ntrue b\ntrim("[[n]]")`
    expect(recorder.byName('beside').command).toBe(shown)
  })

  test('foreach runs all items, then fails with the first error and records the first failed items', async () => {
    const { status, errorMessage, recorder } = await run(
      module(`
  - {name: make, type: bash, command: "seq 1 20 > {{Output}}/in"}
  - name: loop
    type: foreach
    input: "{{Output}}/in"
    variable: n
    threads: 4
    step: {name: check, type: bash, command: "echo item {{n}}; exit $(( {{n}} % 2 ))", pre_condition: "{{n}} > 2"}
`),
      { limits: { foreachFailedRows: 2 } },
    )
    expect(status).toBe('failed')
    expect(errorMessage).toBe('command exited with code 1 (20 items: 9 completed, 9 failed, 2 skipped)')
    const failures = recorder.steps.filter(({ name }) => name === 'check')
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatchObject({
      status: 'failed',
      exitCode: 1,
      counts: false,
      output: expect.stringMatching(/^item \d+\n$/),
    })
    expect([recorder.total, recorder.completed]).toEqual([2, 2])
  })

  test('the memory of foreach does not grow over 40,000 lines', async () => {
    const before = keptBytes()
    const { status, recorder } = await run(
      module(`
  - {name: make, type: bash, command: "seq 1 40000 > {{Output}}/in"}
  - name: loop
    type: foreach
    input: "{{Output}}/in"
    variable: n
    threads: 16
    step: {name: check, type: function, function: 'trim("{{n}} ") == ""'}
`),
    )
    expect(status).toBe('completed')
    expect(recorder.byName('loop').exports?.['foreach_total']).toBe('40000')
    // 200 bytes a line would be 8 MB.
    expect(keptBytes() - before).toBeLessThan(8e6)
  })

  test('the first outputs of items are kept, whatever the order of their ends', () => {
    const outputs = new ItemOutputs(10)
    const added = [3, 0, 4, 2, 1, 5].map((index) => outputs.add(index, `<${index}>\n`))
    expect(added).toEqual([true, true, true, true, true, false])
    expect(outputs.text).toBe('<0>\n<1>\n<2\n[output truncated]')
  })

  test('variable_pre_process computes the variable of foreach from the line as a value', async () => {
    const { recorder } = await run(
      module(`
  - {name: make, type: bash, command: "printf '%s\\\\n' \\"it's\\" 'B\\"' > {{Output}}/in"}
  - name: loop
    type: foreach
    input: "{{Output}}/in"
    variable: v
    variable_pre_process: "to_upper_case('[[v]]') + '!'"
    step: {type: bash, command: "printf '%s %s' {{v}} {{_v_}}"}
`),
    )
    expect(recorder.byName('loop').output.split('\n').slice(0, 1).join('')).toContain("IT'S! IT'S!")
    expect(recorder.byName('loop').output).toContain('B"! B_!')
  })
})

describe('parallel-steps', () => {
  test('parallel steps run concurrently with separate rows and variables, and their exports are passed on', async () => {
    const { status, recorder } = await run(
      module(`
  - name: both
    type: parallel-steps
    parallel_steps:
      - {name: a, type: bash, command: "sleep 0.2; echo A", exports: {from_a: stdout}}
      - {name: b, type: function, function: 'read_file("nowhere") + "B"', exports: {from_b: output}}
      - {name: c, type: bash, command: echo C, pre_condition: "false"}
      - {name: d, type: bash, command: exit 1, on_error: [continue]}
  - {name: after, type: bash, command: "echo {{from_a}}{{from_b}}"}
`),
    )
    expect(status).toBe('completed')
    expect(recorder.byName('after').output).toBe('AB\n')
    expect(recorder.byName('c').status).toBe('skipped')
    expect(recorder.byName('d').status).toBe('failed')
    expect([recorder.total, recorder.completed, recorder.steps.length]).toEqual([2, 2, 6])
  })

  test('parallel-steps fails if one of its steps fails, after all of them have run', async () => {
    const { status, errorMessage, output } = await run(
      module(`
  - name: both
    type: parallel-steps
    parallel_steps:
      - {name: a, type: bash, command: exit 9}
      - {name: b, type: bash, command: "sleep 0.1; touch {{Output}}/b"}
`),
    )
    expect([status, errorMessage]).toEqual(['failed', "step 'a' failed: command exited with code 9"])
    expect(existsSync(`${output}/b`)).toBe(true)
  })
})

describe('decisions and actions', () => {
  test('a decision chooses the next step, possibly an earlier one, and steps in between are recorded as skipped', async () => {
    const { status, recorder } = await run(
      module(`
  - {name: count, type: function, function: 'set_var("n", (typeof n == "undefined" ? 0 : n) + 1)'}
  - name: choose
    type: bash
    command: echo {{n}}
    decision:
      switch: "{{n}}"
      cases:
        "1": {goto: count}
        "2": {command: "echo inline {{n}}", function: 'log_info("twice")', goto: last}
      default: {goto: _end}
  - {name: passed, type: bash, command: echo}
  - name: last
    type: bash
    command: echo last
    decision:
      conditions:
        - {if: "{{n}} == 2 && Target == 'example.com'", functions: ['log_info("cond")'], goto: _end}
        - {if: "'{{n}}' == '3'", command: "exit 1"}
  - {name: never, type: bash, command: echo}
`),
    )
    expect(status).toBe('completed')
    expect(recorder.story).toEqual([
      'count completed',
      'choose completed',
      'count completed',
      'choose completed',
      'decision-inline-bash completed',
      'decision-inline-function completed',
      'last completed',
      'decision-condition-function completed',
      'passed skipped',
      'never skipped',
    ])
    expect([recorder.total, recorder.completed]).toEqual([5, 5])
  })

  test('an endless goto loop is stopped', async () => {
    const { status, errorMessage } = await run(
      module(`
  - {name: again, type: function, function: 'true', decision: {switch: x, default: {goto: again}}}
`),
      { limits: { stepsPerModule: 50 } },
    )
    expect([status, errorMessage]).toEqual(['failed', 'more than 50 steps were started: does a goto loop?'])
  })

  test('actions log, export, notify and run, and their errors do not fail the step', async () => {
    const { status, recorder } = await run(
      module(`
  - name: works
    type: bash
    command: echo 3
    exports: {n: stdout}
    on_success:
      - {action: log, message: "found {{n}}"}
      - {action: export, name: more, value: "x{{n}}"}
      - {action: notify, notify: "told {{n}}", condition: "n > 2"}
      - {action: run, type: bash, command: "echo run {{more}}"}
      - {action: log, message: never, condition: "{{n}} > 5"}
  - name: fails
    type: bash
    command: exit 1
    on_error:
      - {action: run, type: function, functions: ['log_warn("cleaning")', 'JSON.parse("{")']}
      - {action: continue}
  - {name: after, type: bash, command: "echo {{more}}"}
`),
    )
    expect(status).toBe('completed')
    expect(recorder.lines).toEqual(expect.arrayContaining(['info: found 3', 'warn: cleaning']))
    expect(recorder.lines).not.toContain('info: never')
    expect(recorder.events).toEqual([
      expect.objectContaining({
        topic: 'action_notify',
        data: expect.objectContaining({ message: 'told 3' }),
      }),
    ])
    expect(recorder.byName('works-on_success-4').output).toBe('run x3\n')
    expect(recorder.byName('fails-on_error-1').status).toBe('failed')
    expect(recorder.byName('after').output).toBe('x3\n')
  })

  test('abort ends the module even with continue', async () => {
    const { status, recorder } = await run(
      module(`
  - {name: a, type: bash, command: exit 1, on_error: [{action: continue}, {action: abort}]}
  - {name: b, type: bash, command: echo}
`),
    )
    expect(status).toBe('failed')
    expect(recorder.story).toEqual(['a failed', 'b skipped'])
  })
})

describe('steps with depends_on', () => {
  test('steps with depends_on start as early as possible, and dependents of a failed step are skipped with the reason', async () => {
    const { status, errorMessage, recorder } = await run(
      module(`
  - {name: last, type: bash, command: echo, depends_on: [bad, good]}
  - {name: beyond, type: bash, command: echo, depends_on: [last]}
  - {name: bad, type: bash, command: exit 5}
  - {name: good, type: bash, command: "sleep 0.1; echo 1", exports: {one: stdout}}
  - {name: fine, type: bash, command: "echo {{one}}", depends_on: [good]}
`),
    )
    expect([status, errorMessage]).toEqual(['failed', 'command exited with code 5'])
    expect(recorder.byName('fine').output).toBe('1\n')
    expect(recorder.byName('last')).toMatchObject({
      status: 'skipped',
      errorMessage: "step 'bad', which this one depends on, did not succeed",
    })
    expect(recorder.byName('beyond').status).toBe('skipped')
    expect([recorder.total, recorder.completed]).toEqual([5, 3])
  })
})

describe('hooks, retries and dependencies', () => {
  test('hooks run before and after, are not counted and never fail the run', async () => {
    const { status, recorder } = await run(
      module(
        `
  - {name: step, type: bash, command: "echo {{prepared}}"}
`,
        `hooks:
  pre_scan_steps: [{name: before, command: "echo yes", exports: {prepared: stdout}}, {command: exit 1}]
  post_scan_steps: [{name: after, type: function, function: 'log_info("done")'}]
`,
      ),
    )
    expect(status).toBe('completed')
    expect(recorder.story).toEqual([
      'before completed',
      'pre-hook-2 failed',
      'step completed',
      'after completed',
    ])
    expect(recorder.byName('step').output).toBe('yes\n')
    expect([recorder.total, recorder.completed]).toEqual([1, 1])
  })

  test('a failed step is retried as often as its retry allows', async () => {
    const { status, recorder } = await run(
      module(`
  - {name: flaky, type: bash, command: 'echo x >> {{Output}}/tries; [ $(wc -l < {{Output}}/tries) -ge 3 ]', retry: {attempts: 5, delay: 10ms}}
  - {name: other, type: bash, command: exit 7, retry: {attempts: 3, delay: 10ms, exit_codes: [1]}, on_error: continue}
`),
    )
    expect(status).toBe('completed')
    expect(recorder.byName('flaky').output.match(/retry/g)).toHaveLength(2)
    expect(recorder.byName('other').output).toBe('')
  })

  test('a command that a signal has ended has the exit code that shells report for it', async () => {
    const { recorder } = await run(
      module(`
  - {name: killed, type: bash, command: 'echo x >> {{Output}}/tries; kill -KILL $$', retry: {attempts: 2, delay: 10ms, exit_codes: [137]}, on_error: continue}
  - {name: tries, type: bash, command: 'cat {{Output}}/tries'}
`),
    )
    expect(recorder.byName('killed')).toMatchObject({ status: 'failed', exitCode: 137 })
    expect(recorder.byName('tries').output).toBe('x\nx\n')
  })

  test('unmet dependencies fail the run before its first step', async () => {
    const needs = async (text: string, target = 'example.com') =>
      (await run(module('  - {name: a, type: bash, command: echo}\n', `dependencies: ${text}\n`), { target }))
        .errorMessage
    expect(await needs('{commands: [sh, no-such-tool]}')).toBe(
      'dependency check failed: required command not found: no-such-tool',
    )
    expect(await needs('{target_types: [url, cidr]}')).toBe(
      'dependency check failed: target type mismatch: supplied example.com (detected domain), expected type url, cidr',
    )
    expect(await needs('{variables: [{name: Target, type: "ip,domain"}]}')).toBe('')
    expect(await needs('{functions_conditions: ["file_exists(\'/nope\')"]}')).toContain(
      'function condition failed',
    )
    expect(await needs('{target_types: [cidr]}', '10.0.0.0/8')).toBe('')
  })

  test('a dry run executes nothing and records every step', async () => {
    const { status, recorder, output } = await run(
      module(`
  - {name: a, type: bash, command: "touch {{Output}}/{{Target}}", exports: {x: stdout}, pre_condition: "false"}
  - {name: b, type: bash, command: "echo {{x}}"}
`),
      { dryRun: true },
    )
    expect(status).toBe('completed')
    expect(existsSync(`${output}/example.com`)).toBe(false)
    expect(recorder.byName('a')).toMatchObject({
      command: `touch ${output}/example.com`,
      output: '[DRY-RUN] Skipped\n',
      exports: { x: 'true' },
    })
    expect(recorder.byName('b').command).toBe('echo true')
  })

  test('skip() ends the module without failure and the remaining steps are skipped', async () => {
    const { status, recorder } = await run(
      module(`
  - {name: a, type: function, function: 'if (true) { skip("nothing to do") }; 1'}
  - {name: b, type: bash, command: echo}
`),
    )
    expect(status).toBe('completed')
    expect(recorder.story).toEqual(['a skipped', 'b skipped'])
    expect(recorder.steps.map(({ errorMessage }) => errorMessage)).toEqual(['nothing to do', 'nothing to do'])
  })

  test('expressions have a time limit and stop on cancel', async () => {
    const abort = new AbortController()
    setTimeout(() => abort.abort('cancel'), 300)
    const { status } = await run(module('  - {name: a, type: function, function: "while (true) {}"}\n'), {
      signal: abort.signal,
    })
    expect(status).toBe('cancelled')
    const sleeping = new AbortController()
    const recorder = new MemoryRecorder()
    const opened = recorder.stepOpened.bind(recorder)
    recorder.stepOpened = (step) => {
      opened(step)
      setTimeout(() => sleeping.abort('cancel'), 100)
    }
    await run(module('  - {name: a, type: function, function: "sleep(60)"}\n'), {
      signal: sleeping.signal,
      recorder,
    })
    expect(recorder.story).toEqual(['a cancelled'])
  })

  test('structured arguments are appended in order', async () => {
    const { recorder } = await run(
      module(`
  - {name: a, type: bash, command: echo, output_args: "-o {{Target}}", input_args: "-i x", speed_args: "-t {{threads}}", config_args: ""}
`),
    )
    expect(recorder.byName('a').command).toBe('echo -t 10 -i x -o example.com')
  })

  test('a child workflow overrides steps of its parent', async () => {
    const { recorder } = await run({
      'child.yaml': `
kind: module
name: child
extends: parent
override:
  params: {size: 9, extra: {default: e}}
  steps:
    mode: merge
    replace: [{name: b, type: bash, command: "echo new {{size}} {{extra}}"}]
    remove: [c]
    steps: [{name: d, type: bash, command: echo d}]
`,
      'parent.yaml': `
kind: module
name: parent
params: [{name: size, default: 1}]
steps:
  - {name: a, type: bash, command: "echo {{size}}"}
  - {name: b, type: bash, command: echo old}
  - {name: c, type: bash, command: echo c}
`,
    })
    expect(recorder.steps.map(({ output }) => output)).toEqual(['9\n', 'new 9 e\n', 'd\n'])
  })

  test('programs of the operator take precedence over those of the machine', async () => {
    const tools = `${folder()}/tools`
    mkdirSync(tools, { recursive: true })
    writeFileSync(`${tools}/nmap`, '#!/bin/sh\necho stand-in "$@"\n')
    chmodSync(`${tools}/nmap`, 0o755)
    const { recorder, output } = await run(
      module('  - {name: a, type: bash, command: "nmap {{Target}}"}\n', 'dependencies: {commands: [nmap]}\n'),
      { folders: { output: folder(), temp: `${folder()}/tmp`, binaries: tools } },
    )
    expect(recorder.byName('a').output).toBe('stand-in example.com\n')
    expect(output).not.toBe('')
  })
})

describe('http', () => {
  let server: Server
  let base = ''
  let failures = 0
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/flaky' && failures++ < 1) response.statusCode = 503
      if (request.url === '/missing') response.statusCode = 404
      if (request.url === '/down') response.statusCode = 500
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        response.setHeader('X-Seen', String(request.headers['x-token'] ?? ''))
        response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })

  test('an http step sends its request, retries after a server error, and exports the response', async () => {
    const { status, recorder } = await run(
      module(`
  - name: ask-it
    type: http
    url: "${base}/flaky?t={{Target}}"
    method: post
    headers: {X-Token: "t-{{Target}}"}
    request_body: '{"a": "{{Target}}"}'
    exports: {code: "{{ask_it_http_resp.status_code}}", seen: "{{ask_it_http_resp.response_headers.x-seen}}"}
  - {name: gone, type: http, url: "${base}/missing"}
  - {name: down, type: http, url: "${base}/down", on_error: [continue]}
`),
      { params: { x: '1' } },
    )
    expect(status).toBe('completed')
    expect(recorder.byName('ask-it').output).toBe('POST /flaky?t=example.com {"a": "example.com"}\n')
    expect(recorder.byName('ask-it').exports).toMatchObject({ code: '200' })
    expect(recorder.byName('gone').status).toBe('completed')
    expect(recorder.byName('down').errorMessage).toBe('HTTP status 500')
  })
})
