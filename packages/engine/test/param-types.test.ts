import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { checkParams, paramWarnings } from '../src/flow/params.ts'
import { lint, resolveWorkflow } from '@scanfarm/language'
import { openLibrary } from '../src/library/open-library.ts'
import { useRuns } from './harness/runs.ts'
import { FUNCTIONS } from '@scanfarm/functions'

const runs = useRuns()

const PARAMS = `params:
  - {name: text, type: string}
  - {name: number, type: int, min: 1, max: 60}
  - {name: below, type: int, max: 5}
  - {name: deep, type: bool}
  - {name: level, type: choice, choices: [low, high]}
  - {name: levels, type: choice, choices: [low, high], multiple: true}
  - {name: file, type: path}
  - {name: flags, type: args}
  - {name: free}
`
const module = (command: string, params = PARAMS) =>
  `kind: module\nname: m\n${params}steps: [{name: s, type: bash, command: '${command.replaceAll("'", "''")}'}]\n`
const rules = (text: string) =>
  lint(text, 'm.yaml', FUNCTIONS).map(({ rule, severity }) => `${severity} ${rule}`)

describe('values of callers', () => {
  const check = async (params: Record<string, string>) => {
    const library = await openLibrary([])
    await library.put('m', module('true'))
    return checkParams(resolveWorkflow(library, { name: 'm' }), params)
  }

  test('A value that fits the type of its param is accepted', async () => {
    const fine: Record<string, string>[] = [
      { text: '-x "y' },
      { number: '1', below: '-70' },
      { number: '060' },
      { deep: 'true' },
      { deep: 'FALSE' },
      { deep: '0' },
      { level: 'low', levels: 'high,low' },
      { file: '/a b/c', flags: '' },
      { file: './-x' },
      { flags: `-a "b 'c" d\\ e` },
      { free: 'a "b', other: "it's" },
      { number: '' },
    ]
    for (const params of fine) expect(await check(params)).toEqual([])
  })

  test.each([
    ['number', '3 touch FILE', '"3 touch FILE" does not fit: expected a whole number from 1 to 60'],
    ['number', '0', '"0" does not fit: expected a whole number from 1 to 60'],
    ['number', '61', '"61" does not fit: expected a whole number from 1 to 60'],
    ['number', '1.5', '"1.5" does not fit: expected a whole number from 1 to 60'],
    ['number', '1e1', '"1e1" does not fit: expected a whole number from 1 to 60'],
    ['number', ' 1', '" 1" does not fit: expected a whole number from 1 to 60'],
    ['number', '١', '"١" does not fit: expected a whole number from 1 to 60'],
    ['below', '6', '"6" does not fit: expected a whole number, 5 or less'],
    ['deep', 'maybe', '"maybe" does not fit: expected true or false'],
    ['level', 'low,high', '"low,high" does not fit: expected one of low, high'],
    [
      'levels',
      '-code',
      '"-code" does not fit: expected one of low, high, or several of them with commas between them',
    ],
    [
      'levels',
      'low,',
      '"low," does not fit: expected one of low, high, or several of them with commas between them',
    ],
    [
      'file',
      '-rf',
      '"-rf" does not fit: expected a path, not empty, without control characters, and not beginning with "-" (write ./-name)',
    ],
    [
      'file',
      'a\tb',
      '"a\\tb" does not fit: expected a path, not empty, without control characters, and not beginning with "-" (write ./-name)',
    ],
    [
      'flags',
      `it's`,
      `"it's" does not fit: expected arguments as in a shell: every quote must be closed, and \\ must have a character behind it`,
    ],
    [
      'flags',
      'a\\',
      `"a\\\\" does not fit: expected arguments as in a shell: every quote must be closed, and \\ must have a character behind it`,
    ],
  ])('The param %s refuses the value %s and is named', async (name, value, message) => {
    expect(await check({ [name]: value })).toEqual([{ path: `/params/${name}`, message }])
  })

  test('A value that a flow passes to modules is checked against the types of the modules', async () => {
    const library = await openLibrary([])
    await library.put('m', module('true'))
    await library.put('n', module('true').replace('name: m', 'name: n'))
    await library.put(
      'f',
      'kind: flow\nname: f\nmodules: [{name: m, path: m}, {name: n, path: n, params: {below: 1}}]\n',
    )
    await library.put('g', 'kind: flow\nname: g\nmodules: [{name: n, path: n, params: {below: 1}}]\n')
    const of = (name: string) => resolveWorkflow(library, { name })
    expect(checkParams(of('f'), { below: '6' })).toHaveLength(1)
    expect(checkParams(of('g'), { below: '6' })).toEqual([])
    expect(checkParams(of('g'), { number: 'x' })).toHaveLength(1)
  })
})

describe('lint', () => {
  test('Keys that do not belong to the type of a param, and defaults that do not fit it, are reported', () => {
    const declared = (param: string) => rules(module('echo {{a}}', `params: [{name: a, ${param}}]\n`))
    for (const fine of [
      'type: int, min: 1, max: 2, default: 2',
      'type: int, default: "{{threads}}"',
      'type: choice, choices: [a, b], default: a',
      'type: choice, choices: "a,b", multiple: true, default: "a,b"',
      'type: path, default: /x',
      'type: args, default: "-a \'b c\'"',
      'type: bool, default: false',
      'type: args, default: ""',
    ])
      expect(declared(fine)).toEqual([])
    expect(declared('type: choice')).toEqual(['error missing-required-field'])
    expect(declared('type: string, min: 1')).toEqual(['warning wrong-value'])
    expect(declared('type: int, choices: [a]')).toEqual(['warning wrong-value'])
    expect(declared('type: int, min: 3, max: 2')).toEqual(['error wrong-value'])
    expect(declared('type: choice, choices: [a], default: b')).toEqual(['error wrong-value'])
    expect(declared('type: path, default: -x')).toEqual(['error wrong-value'])
    expect(declared('type: args, default: "a\'b"')).toEqual(['error wrong-value'])
    expect(declared('type: int, default: 10m')).toEqual(['warning wrong-value'])
  })

  test.each([
    '{{flags}}',
    'wait={{flags}}',
    'tool > {{flags}}',
    'tool "{{flags}}"',
    'tool -x{{flags}}',
    'env {{flags}}',
    'sh -c "tool {{flags}}"',
    'tool {{flags | default:"x"}} | {{flags | upper}}',
  ])('A param of type args is refused outside of the arguments of a command: %s', (command) => {
    expect(rules(module(command)).filter((rule) => rule.startsWith('error'))).toEqual(['error args-position'])
  })

  test('A param of type args is accepted after a command, and every other type anywhere', () => {
    const command = 'tool {{flags}} "{{text}}" {{number}} > {{file}}; wait={{number}} env {{free}}'
    expect(rules(module(command)).filter((rule) => rule.startsWith('error'))).toEqual([])
    const args = `kind: module\nname: m\n${PARAMS}steps: [{name: s, type: bash, command: tool, speed_args: '{{flags}}'}]\n`
    expect(rules(args).filter((rule) => rule.startsWith('error'))).toEqual([])
  })
})

describe('runs', () => {
  const printing = (param: string, command = `printf '[%s]' . {{a}}`) =>
    module(command, `params: [{name: a, ${param}}]\n`)
  const outputOf = async (
    text: string | Record<string, string>,
    params: Record<string, string>,
    strictParams = false,
  ) => {
    const { recorder, status, errorMessage } = await runs.run(text, { params, strictParams })
    return status === 'completed' ? recorder.steps.map(({ output }) => output).join('') : errorMessage
  }

  test('The type of a bare param decides how it is split', async () => {
    const value = `-a "b c"`
    expect(await outputOf(printing('default: x'), { a: value })).toBe('[.][-a]["b][c"]')
    expect(await outputOf(printing('default: x'), { a: value }, true)).toBe('[.][-a "b c"]')
    expect(await outputOf(printing('type: string'), { a: value })).toBe('[.][-a "b c"]')
    expect(await outputOf(printing('type: path'), { a: 'b c' })).toBe('[.][b c]')
    expect(await outputOf(printing('type: choice, choices: ["a b"]'), { a: 'a b' })).toBe('[.][a b]')
    for (const strict of [false, true])
      expect(await outputOf(printing('type: args'), { a: value }, strict)).toBe('[.][-a][b c]')
    expect(await outputOf(printing('type: args'), { a: '$HOME *' })).toBe('[.][$HOME][*]')
  })

  test('An undeclared param is split unless params are strict', async () => {
    const text = module(`printf '[%s]' . {{a}}`, '')
    expect(await outputOf(text, { a: 'b c' })).toBe('[.][b][c]')
    expect(await outputOf(text, { a: 'b c' }, true)).toBe('[.][b c]')
  })

  test('A default has the type of its param, and values in it stay within their word', async () => {
    expect(await outputOf(printing(`type: args, default: '-a "b c" \\$d'`), {})).toBe('[.][-a][b c][$d]')
    expect(await outputOf(printing(`default: '-a "b c"'`), {})).toBe('[.][-a][b c]')
    const inside = `-u http://{{t}}/ "x {{t}}" '"'"'y {{t}}'"'"' {{t}}`
    const text = module(
      `printf '[%s]' . {{a}}`,
      `params: [{name: t, type: string}, {name: a, type: args, default: '${inside.replaceAll(`'"'"'`, "''")}'}]\n`,
    )
    const t = `q" 'z \\`
    expect(await outputOf(text, { t })).toBe(`[.][-u][http://${t}/][x ${t}][y ${t}][${t}]`)
  })

  test('A default that does not fit its type is split like untyped text', async () => {
    expect(await outputOf(printing(`type: string, default: '-a b'`), {})).toBe('[.][-a][b]')
    expect(await outputOf(printing(`type: int, default: '-a b'`), {})).toBe('[.][-a][b]')
    expect(await outputOf(printing(`type: number, default: '-a b'`), { a: 'c d' })).toBe('[.][c][d]')
    expect(await outputOf(printing(`type: number, default: '-a b'`), {})).toBe('[.][-a][b]')
    expect(await outputOf(printing(`type: bool, default: yes please`), {})).toBe('[.][false]')
  })

  test('A run checks the types of its params again', async () => {
    expect(await outputOf(printing('type: int'), { a: '3 x' })).toBe(
      'param a: "3 x" does not fit: expected a whole number',
    )
    const flow = {
      'f.yaml':
        'kind: flow\nname: f\nparams: [{name: b}]\nmodules: [{name: m, path: m.yaml, params: {a: "{{b}}"}}]\n',
      'm.yaml': printing('type: int'),
    }
    expect(await outputOf(flow, { b: 'x' })).toContain('param a: "x" does not fit')
    expect(await outputOf(flow, { b: '4' })).toBe('[.][4]')
  })

  test('A value that a flow passes on has the type that the module declares', async () => {
    const flow = (flowParam: string, moduleParam: string, passed = '') => ({
      'f.yaml': `kind: flow\nname: f\nparams: [{name: a${flowParam}}]\nmodules: [{name: m, path: m.yaml${passed}}]\n`,
      'm.yaml': printing(moduleParam),
    })
    expect(await outputOf(flow('', 'type: args'), { a: `b 'c d'` }, true)).toBe('[.][b][c d]')
    expect(await outputOf(flow('', 'type: string'), { a: 'b c' })).toBe('[.][b c]')
    expect(await outputOf(flow(', type: args', 'required: false'), { a: `b 'c d'` })).toBe('[.][b][c d]')
    const passed = ', params: {a: "-x {{a}}"}'
    expect(await outputOf(flow(', type: args', 'type: args', passed), { a: `b 'c d'` })).toBe(
      '[.][-x][b][c d]',
    )
    expect(await outputOf(flow('', 'type: args', passed), { a: `b 'c d'` })).toBe(`[.][-x][b 'c d']`)
  })

  test('No param starts a command, whatever its position', async () => {
    const canary = join(runs.folder(), 'canary')
    for (const command of [
      'wait={{a}} && echo "$wait"',
      '{{a}}',
      'env {{a}}',
      'echo 3 > {{a}}',
      'nohup {{a}}',
    ]) {
      for (const param of ['default: "3"', 'type: string', 'required: false']) {
        for (const a of [`3 touch ${canary}`, `touch ${canary}`]) {
          await runs.run(printing(param, command), { params: { a } })
          expect({ command, param, made: existsSync(canary) }).toEqual({ command, param, made: false })
        }
      }
    }
  })

  test('A step fails if it uses a param of type args outside of the arguments of a command', async () => {
    const flow = {
      'f.yaml': 'kind: flow\nname: f\nparams: [{name: a, type: args}]\nmodules: [{name: m, path: m.yaml}]\n',
      'm.yaml': printing('required: true', 'wait={{a}}'),
    }
    const { recorder } = await runs.run(flow, { params: { a: '-x' } })
    expect(recorder.steps[0]?.errorMessage).toContain('can only be arguments of a command')
  })
})

describe('params that the workflow does not use', () => {
  const resolved = async () => {
    const library = await openLibrary([])
    await library.put(
      'm',
      'kind: module\nname: m\nparams: [{name: ports}]\nsteps: [{name: s, type: bash, command: "echo {{ports}} {{undeclared}} {{ Rate }}"}]\n',
    )
    await library.put('f', 'kind: flow\nname: f\nmodules: [{name: m, path: m}]\n')
    return [resolveWorkflow(library, { name: 'm' }), resolveWorkflow(library, { name: 'f' })]
  }

  test('A name that is near a declared one is refused, in a module and in a flow', async () => {
    for (const workflow of await resolved()) {
      const message = `the workflow ${workflow.root.name} has no param prots. Did you mean "ports"?`
      expect(checkParams(workflow, { prots: '80' })).toEqual([{ path: '/params/prots', message }])
      expect(paramWarnings(workflow, { prots: '80' })).toEqual([])
    }
  })

  test('Another name is accepted with a warning, and one that the workflow mentions without', async () => {
    const fine = {
      ports: '80',
      undeclared: 'x',
      Rate: '3',
      tactic: 'gently',
      _event_envelope: '{}',
      org_uuid: 'x',
    }
    for (const workflow of await resolved()) {
      expect(checkParams(workflow, { ...fine, something_else: 'x' })).toEqual([])
      expect(paramWarnings(workflow, fine)).toEqual([])
      expect(paramWarnings(workflow, { ...fine, something_else: 'x' })).toEqual([
        {
          field: 'params.something_else',
          message: `has no effect: the workflow ${workflow.root.name} does not use a param of that name`,
        },
      ])
    }
  })
})
