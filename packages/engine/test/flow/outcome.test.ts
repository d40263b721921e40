import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { OUTCOME_REASON_CHARS, OUTCOME_REASONS, RunnerUnavailableError } from '@scanfarm/contracts'
import { openLibrary } from '../../src/library/open-library.ts'
import { useRuns, type Ran } from '../harness/runs.ts'

const { run, folder } = useRuns()

const flow = (modules: string, more = ''): string => `kind: flow\nname: main\n${more}\nmodules:\n${modules}\n`
const counts = ({ tally: { failedSteps, leftOutModules, leftOutSteps } }: Ran): number[] => [
  failedSteps,
  leftOutModules,
  leftOutSteps,
]

const WEB = `kind: module
name: web
dependencies: {commands: [no-such-httpx]}
steps:
  - {name: probe, type: bash, command: no-such-httpx}
  - {name: shots, type: bash, command: no-such-httpx}
`
const NOTE = `{name: note, steps: [{name: say, type: function, function: 'log_info("scan of {{Target}}")'}]}`
const WORK = '{name: work, steps: [{name: list, type: bash, command: echo a}]}'

describe('a run', () => {
  test('a run is clean when every module that was due did its work', async () => {
    const ran = await run(
      flow(
        `  - ${WORK}\n  - ${NOTE}\n  - {name: other, condition: 'false', steps: [{type: bash, command: 'false'}]}`,
      ),
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'clean', 0, 0, 0])
    expect(ran.recorder.counted).toEqual(ran.tally)
  })

  test('a run is partial when a module was left out for a missing tool, and its steps record the reason', async () => {
    const ran = await run({ 'main.yaml': flow(`  - ${WORK}\n  - {name: web, path: web}`), 'web.yaml': WEB })
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'partial', 0, 1, 0])
    expect(ran.tally.reasons).toEqual(['module web left out: required command not found: no-such-httpx'])
    const rows = ran.recorder.steps.filter(({ module }) => module === 'web')
    expect(rows.map(({ name, status, errorMessage }) => [name, status, errorMessage])).toEqual(
      ['probe', 'shots'].map((name) => [
        name,
        'skipped',
        'the module is left out: required command not found: no-such-httpx',
      ]),
    )
    expect([ran.recorder.total, ran.recorder.completed]).toEqual([3, 1])
  })

  test('a run did nothing when the scanners were left out and a module only logged messages', async () => {
    const ran = await run({ 'main.yaml': flow(`  - ${NOTE}\n  - {name: web, path: web}`), 'web.yaml': WEB })
    expect([ran.status, ran.outcome]).toEqual(['completed', 'nothing_done'])
  })

  test('a run is not clean when only a summary worked', async () => {
    const ran = await run({
      'main.yaml': flow(
        `  - {name: web, path: web}\n  - {name: sum, depends_on: [web], steps: [{type: bash, command: 'cat *.json 2>/dev/null | wc -l'}]}`,
      ),
      'web.yaml': WEB,
    })
    expect([ran.status, ran.outcome]).toEqual(['completed', 'partial'])
  })

  test.each([
    ['is excluded', '', { params: { exclude_modules: 'work' } }],
    ['has a false condition', `, condition: "{{Target}} == 'other'"`, {}],
  ])('a run did nothing when every module %s, and nothing was left out', async (_name, condition, more) => {
    const ran = await run(flow(`  - ${WORK.slice(0, -1)}${condition}}`), more)
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'nothing_done', 0, 0, 0])
  })

  test('a run did nothing when only hooks worked', async () => {
    const hooks = 'hooks: {pre_scan_steps: [{name: h, type: bash, command: echo h}]}'
    const ran = await run(flow(`  - ${WORK.slice(0, -1)}, condition: 'false'}`, hooks))
    expect([ran.recorder.byName('h').status, ran.outcome]).toEqual(['completed', 'nothing_done'])
  })

  test('a module whose condition, params or runner is invalid is left out', async () => {
    const unusable = {
      openRunner: async () => {
        throw new RunnerUnavailableError('far cannot be reached')
      },
    }
    const modules = [
      `{name: a, condition: 'missing.x', steps: [{type: bash, command: echo}]}`,
      `{name: b, runner: docker, runner_config: {image: i}, steps: [{type: bash, command: echo}]}`,
      `{name: c, path: c}`,
      `{name: d, steps: [{type: function, function: 'file_exists("/")'}]}`,
    ]
    const ran = await run(
      {
        'main.yaml': flow(modules.map((one) => `  - ${one}`).join('\n')),
        'c.yaml':
          'kind: module\nname: c\nparams: [{name: list, required: true}]\nsteps: [{name: s, type: bash, command: echo}]\n',
      },
      unusable,
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'partial', 0, 3, 0])
    expect([...ran.tally.reasons].sort()).toEqual([
      expect.stringContaining('module a left out: the condition of the module cannot be evaluated: '),
      'module b left out: far cannot be reached',
      'module c left out: required parameter missing: list',
    ])
    expect(ran.recorder.steps.filter(({ status }) => status === 'skipped')).toHaveLength(3)
    expect(ran.recorder.completed).toBe(1)
  })

  test('a failed step with on_error: continue counts as failed, and the steps after one without it as left out', async () => {
    const ran = await run(
      flow(
        [
          `  - {name: a, steps: [{name: f, type: bash, command: exit 3, on_error: [{action: continue}]}, {name: g, type: bash, command: echo}]}`,
          `  - {name: b, steps: [{name: f, type: bash, command: exit 4}, {name: g, type: bash, command: echo}, {name: h, type: bash, command: echo}]}`,
        ].join('\n'),
      ),
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'partial', 2, 0, 2])
    expect([...ran.tally.reasons].sort()).toEqual([
      "2 steps of module b left out: step 'f' failed before",
      'step f of module a failed: command exited with code 3',
      'step f of module b failed: command exited with code 4',
    ])
  })

  test('a loop with failed items counts as one failed step, and its other items as work', async () => {
    const list = join(folder(), 'items')
    writeFileSync(list, '0\n1\n2\n')
    const ran = await run(
      `kind: module\nname: m\nsteps: [{name: loop, type: foreach, input: ${list}, variable: n, step: {name: one, type: bash, command: 'exit [[n]]', on_error: [{action: continue}]}}]`,
      { paths: [{ path: list, write: false }] },
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'partial', 1, 0, 0])
  })

  test('a loop item whose on_success action cannot be evaluated counts as failed', async () => {
    const list = join(folder(), 'actions')
    // More turns of a loop than a template may take.
    writeFileSync(list, `${'a'.repeat(200)}\n`)
    const ran = await run(
      `kind: module
name: m
steps:
  - name: loop
    type: foreach
    input: ${list}
    variable: n
    step: {name: one, type: bash, command: 'echo [[n]]', on_success: [{action: log, message: '{% for a in stdout|make_list %}{% for b in stdout|make_list %}{{b}}{% endfor %}{% endfor %}'}], on_error: [{action: continue}]}`,
      { paths: [{ path: list, write: false }] },
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'partial', 1, 0, 0])
  })

  test('modules that an aborted flow does not reach count as left out', async () => {
    const ran = await run(
      flow(
        [
          `  - {name: a, on_error: [{action: abort}], steps: [{name: f, type: bash, command: exit 3}]}`,
          `  - {name: b, depends_on: [a], steps: [{name: g, type: bash, command: echo}]}`,
          `  - {name: no, depends_on: [a], steps: [{name: h, type: bash, command: echo}]}`,
        ].join('\n'),
      ),
      { params: { exclude_modules: 'no' } },
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['failed', 'nothing_done', 1, 1, 0])
    expect(ran.tally.reasons.at(-1)).toBe('module b left out: module a failed: command exited with code 3')
    expect(ran.recorder.byName('g')).toMatchObject({ status: 'skipped' })
  })

  test('failed items of a loop that succeeds on retry are not counted', async () => {
    const list = join(folder(), 'again')
    writeFileSync(list, '0\n1\n')
    const ran = await run(
      `kind: module
name: m
steps:
  - name: loop
    type: foreach
    input: ${list}
    variable: n
    retry: {attempts: 2, delay: 10ms}
    step: {name: one, type: bash, command: 'test -e {{Output}}/[[n]] || { touch {{Output}}/[[n]]; exit 1; }'}`,
      { paths: [{ path: list, write: false }] },
    )
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'clean', 0, 0, 0])
  })

  test('a run did nothing when its loop had no items', async () => {
    const list = join(folder(), 'none')
    writeFileSync(list, '\n')
    const ran = await run(
      `kind: module\nname: m\nsteps: [{name: loop, type: foreach, input: ${list}, variable: n, step: {name: one, type: bash, command: 'echo [[n]]'}}]`,
      { paths: [{ path: list, write: false }] },
    )
    expect([ran.status, ran.outcome]).toEqual(['completed', 'nothing_done'])
  })

  test('a failed run is partial if something worked, otherwise it did nothing', async () => {
    const after = (first: string) =>
      `kind: module\nname: m\nsteps: [{name: a, type: bash, command: ${first}}, {name: b, type: bash, command: exit 2}]`
    const partial = await run(after('echo'))
    expect([partial.status, partial.outcome, ...counts(partial)]).toEqual(['failed', 'partial', 1, 0, 0])
    const nothing = await run(after('exit 1'))
    expect([nothing.status, nothing.outcome, ...counts(nothing)]).toEqual(['failed', 'nothing_done', 1, 0, 1])
  })

  test('a run did nothing when only the actions of a failed step worked', async () => {
    const ran = await run(
      `kind: module\nname: m\nsteps: [{name: a, type: bash, command: exit 1, on_error: [{action: run, type: bash, command: echo}]}]`,
    )
    expect(ran.recorder.story).toEqual(['a failed', 'a-on_error-1 completed'])
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['failed', 'nothing_done', 1, 0, 0])
  })

  test('a failed command of an action or decision counts with its step', async () => {
    for (const more of [
      'on_success: [{action: run, type: bash, command: exit 3}]',
      'decision: {switch: x, default: {command: exit 3}}',
    ]) {
      const ran = await run(`kind: module\nname: m\nsteps: [{name: a, type: bash, command: echo, ${more}}]`)
      expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['completed', 'partial', 1, 0, 0])
    }
  })

  test('all modules of a flow with unmet dependencies are left out', async () => {
    const ran = await run(flow(`  - ${WORK}\n  - ${NOTE}`, 'dependencies: {commands: [no-such-tool]}'))
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['failed', 'nothing_done', 0, 2, 0])
    expect(ran.recorder.story).toEqual(['list skipped', 'say skipped'])
  })

  test('all modules of a flow with a missing param are left out', async () => {
    const ran = await run(flow(`  - ${WORK}\n  - ${NOTE}`, 'params: [{name: list, required: true}]'))
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['failed', 'nothing_done', 0, 2, 0])
    expect(ran.tally.reasons[0]).toBe('module work left out: required parameter missing: list')
    expect(ran.recorder.story).toEqual(['list skipped', 'say skipped'])
  })

  test('nothing counts as left out when a run is cancelled while it checks the programs of a flow', async () => {
    const cancel = new AbortController()
    const openRunner = async () => {
      cancel.abort()
      throw new RunnerUnavailableError('cancelled')
    }
    const ran = await run(flow(`  - ${WORK}`, 'dependencies: {commands: [sh]}'), {
      openRunner,
      signal: cancel.signal,
    })
    expect([ran.status, ran.outcome, ...counts(ran)]).toEqual(['cancelled', 'nothing_done', 0, 0, 0])
    expect(ran.recorder.story).toEqual([])
  })

  test('a dry run has no outcome', async () => {
    expect((await run(flow(`  - ${WORK}`), { dryRun: true })).outcome).toBeUndefined()
  })

  test('a run records the first reasons, limited in length and without secrets', async () => {
    const steps = Array.from(
      { length: OUTCOME_REASONS + 5 },
      (_, n) =>
        `{name: hush-${n}-${'x'.repeat(1000)}, type: bash, command: exit 1, on_error: [{action: continue}]}`,
    )
    const ran = await run(`kind: module\nname: m\nsteps: [${steps.join(', ')}]`, { secrets: ['hush'] })
    expect(ran.tally.failedSteps).toBe(OUTCOME_REASONS + 5)
    expect(ran.tally.reasons).toHaveLength(OUTCOME_REASONS)
    for (const reason of ran.tally.reasons) expect(reason.length).toBeLessThanOrEqual(OUTCOME_REASON_CHARS)
    expect(JSON.stringify(ran.tally)).not.toContain('hush')
  })

  test('secrets with white space are masked in reasons', async () => {
    const step = `{name: a, type: function, function: 'exit(1, "it is two  words")'}`
    const ran = await run(`kind: module\nname: m\nsteps: [${step}]`, { secrets: ['two  words'] })
    expect(ran.tally.reasons).toEqual(['step a failed: it is ***'])
  })
})

describe('on_partial: fail', () => {
  test('on_partial: fail fails a run that is partial or did nothing, with the reasons', async () => {
    const files = (first: string) => ({
      'main.yaml': flow(`  - ${first}\n  - {name: web, path: web}`, 'on_partial: fail'),
      'web.yaml': WEB,
    })
    const why = 'module web left out: required command not found: no-such-httpx'
    const partial = await run(files(WORK))
    expect([partial.status, partial.outcome, partial.errorMessage]).toEqual([
      'failed',
      'partial',
      `the run did only part of its work: ${why}`,
    ])
    const nothing = await run(files(NOTE))
    expect([nothing.status, nothing.outcome, nothing.errorMessage]).toEqual([
      'failed',
      'nothing_done',
      `the run did nothing: ${why}`,
    ])
  })

  test('on_partial: fail keeps a clean run completed, and is inherited from a parent', async () => {
    const clean = await run(flow(`  - ${WORK}`, 'on_partial: fail'))
    expect([clean.status, clean.outcome]).toEqual(['completed', 'clean'])
    const parent = `kind: module\nname: base\non_partial: fail\nsteps: [{name: s, type: function, function: 'log_info("x")'}]\n`
    const child = 'kind: module\nname: child\nextends: base\n'
    const inherited = await run({ 'child.yaml': child, 'base.yaml': parent })
    expect([inherited.status, inherited.errorMessage]).toEqual(['failed', 'the run did nothing'])
    const relaxed = await run({
      'child.yaml': `${child}override: {on_partial: complete}\n`,
      'base.yaml': parent,
    })
    expect(relaxed.status).toBe('completed')
  })

  test('on_partial accepts no other value', async () => {
    const library = await openLibrary([])
    await library.put('f.yaml', flow(`  - ${WORK}`, 'on_partial: abort'))
    expect(
      library
        .find('f')
        ?.problems.map(({ message }) => message)
        .join(),
    ).toBe("invalid on_partial: abort, must be 'complete' or 'fail'")
  })
})
