import { describe, expect, test } from '@jest/globals'
import { resolveWorkflow, type ResolvedWorkflow } from '@scanfarm/language'
import { possibleModules } from '../../src/flow/possible-modules.ts'
import { openLibrary } from '../../src/library/open-library.ts'
import { requirements } from '../../src/requirements.ts'
import { useRuns, WORKFLOWS } from '../harness/runs.ts'

const { runResolved } = useRuns()

interface Given {
  readonly params?: Record<string, string>
  readonly targets?: readonly string[]
  readonly operatorVariables?: readonly string[]
}

const toolsOf = async (resolved: ResolvedWorkflow, { params = {}, ...known }: Given): Promise<string[]> =>
  requirements(resolved, { modules: await possibleModules(resolved, { params, ...known }) }).map((need) =>
    need.replace('tool:', ''),
  )

describe('the tools of shipped flows', () => {
  const shipped = openLibrary([WORKFLOWS])
  const needs = async (name: string, given: Given): Promise<string[]> =>
    await toolsOf(resolveWorkflow(await shipped, { name, kind: 'flow' }), given)

  test('count only for modules that the params allow', async () => {
    const base = ['dnsx', 'httpx', 'nuclei', 'subfinder']
    expect(await needs('domain', {})).toEqual([...base, 'katana'].sort())
    expect(await needs('domain', { params: { with_ports: 'true' } })).toContain('nmap')
    expect(await needs('domain', { params: { with_ports: 'false' } })).not.toContain('nmap')
    expect(await needs('domain', { params: { with_crawl: 'false' } })).toEqual(base)
    expect(await needs('url', {})).toEqual(['httpx', 'katana', 'nuclei'])
    expect(await needs('url', { params: { wordlist: '/usr/share/words' } })).toContain('ffuf')
  })

  test('do not count for excluded modules', async () => {
    const params = { exclude_modules: 'vulnerabilities', fuzzy_exclude_modules: 'cra' }
    expect(await needs('url', { params })).toEqual(['httpx'])
  })
})

const START = 'kind: flow\nname: main\n'

const flowOf = async (head: string, refs: string, files: Record<string, string> = {}) => {
  const library = await openLibrary([])
  for (const tool of ['alpha', 'beta'])
    await library.put(
      `${tool}.yaml`,
      `kind: module\nname: ${tool}\nsteps: [{name: mark, type: bash, command: "echo ${tool}"}]\ndependencies: {commands: [${tool}]}\n`,
    )
  for (const [path, text] of Object.entries(files)) await library.put(path, text)
  await library.put('main.yaml', `${START}${head}modules:\n${refs}`)
  return resolveWorkflow(library, { name: 'main', kind: 'flow' })
}

const started = async (resolved: ResolvedWorkflow, target: string, params: Record<string, string>) => {
  const { recorder } = await runResolved(resolved, { target, params, skipValidation: true })
  return recorder.steps.filter(({ name, status }) => name === 'mark' && status === 'completed').length > 0
}

const PARAMS = `params:
  - {name: flag, type: bool, default: false}
  - {name: mode, default: quick}
  - {name: level, type: int, default: 3}
  - {name: both, default: '{{mode}}-{{level}}'}
  - {name: made, generator: uuid()}
  - {name: list, type: path, default: ''}
  - {name: on, type: bool}
  - {name: Version, default: ''}
`

/** Condition, params and target; and whether the module is certain not to run. */
const CASES: readonly (readonly [string, Record<string, string>, string, boolean])[] = [
  ['{{flag}}', {}, 'example.com', true],
  ['{{flag}}', { flag: 'yes' }, 'example.com', false],
  ['flag', { flag: 'false' }, 'example.com', true],
  ['!{{flag}}', {}, 'example.com', false],
  ["'{{mode}}' == 'deep'", {}, 'example.com', true],
  ["mode == 'deep'", { mode: 'deep' }, 'example.com', false],
  ['{{level}} > 3 && level < 9', {}, 'example.com', true],
  ['{{level}} > 3 || level < 9', { level: '1' }, 'example.com', false],
  ['{{level}} > 3 ? false : flag', {}, 'example.com', true],
  ["'{{both}}' == 'quick-3'", {}, 'example.com', false],
  ["'{{both}}' == 'quick-3'", { level: '4' }, 'example.com', true],
  ["'{{made}}' == ''", {}, 'example.com', false],
  ["'{{unknown}}' == 'x'", {}, 'example.com', false],
  ["'{{extra}}' == 'x'", { extra: 'y' }, 'example.com', true],
  ['{{counted}} > 0 && {{flag}}', {}, 'example.com', true],
  ['{{counted}} > 0', {}, 'example.com', false],
  ['false || "0"', {}, 'example.com', true],
  ["(mode && '0') || flag", {}, 'example.com', true],
  ["'0' && file_exists('/etc/passwd')", {}, 'example.com', false],
  ["contains('{{mode}}', 'ick') && starts_with(Target, 'example')", {}, 'example.com', false],
  ["contains('{{mode}}', 'deep')", {}, 'example.com', true],
  ["'{{TargetType}}' == 'ip'", {}, 'example.com', true],
  ["'{{TargetType}}' == 'ip'", {}, '192.0.2.1', false],
  ["'{{FlowName}}' == 'x'", { FlowName: 'y' }, 'example.com', false],
  ["'{{Output}}' == 'x'", { Output: 'y' }, 'example.com', false],
  ["'{{Target}}' == 'x'", { Target: 'x' }, 'example.com', true],
  ['random_string(1) == "a"', {}, 'example.com', false],
  ['[1, 2].includes({{level}})', {}, 'example.com', false],
  ["'{{list}}' != '' && file_exists('{{list}}')", {}, 'example.com', true],
  ["'{{list}}' != '' && file_exists('{{list}}')", { list: '/none' }, 'example.com', false],
  ['{{on}}', {}, 'example.com', true],
  ["'{{Version}}' == ''", {}, 'example.com', false],
]

describe('a module is left out of the requirements', () => {
  test.each(CASES)('if %s with %j on %s is certainly false', async (condition, params, target, isOut) => {
    const quoted = JSON.stringify(condition)
    const resolved = await flowOf(PARAMS, `  - {name: one, path: alpha.yaml, condition: ${quoted}}\n`)
    const tools = await toolsOf(resolved, { params, targets: [target] })
    expect(tools).toEqual(isOut ? [] : ['alpha'])
    if (isOut) expect(await started(resolved, target, params)).toBe(false)
  })

  test('only if no target of the job needs it', async () => {
    const refs = `  - {name: one, path: alpha.yaml, condition: "'{{TargetType}}' == 'ip'"}\n`
    const resolved = await flowOf('', refs)
    const names = ['a.example.com', 'b.example.com']
    expect(await toolsOf(resolved, { targets: names })).toEqual([])
    expect(await toolsOf(resolved, { targets: [...names, '192.0.2.1'] })).toEqual(['alpha'])
    expect(await toolsOf(resolved, {})).toEqual(['alpha'])
    const many = Array.from({ length: 1_000 }, (_, index) => `h${index}.example.com`)
    expect(await toolsOf(resolved, { targets: many })).toEqual(['alpha'])
    expect(await toolsOf(resolved, { targets: names, operatorVariables: ['TargetType'] })).toEqual(['alpha'])
    const upload = 'uploads/0123456789abcdef-list.txt'
    expect(await toolsOf(resolved, { targets: [upload] })).toEqual(['alpha'])
  })

  test('unless the settings may give a variable that the param has no default for', async () => {
    const resolved = await flowOf(PARAMS, "  - {name: one, path: alpha.yaml, condition: '{{list}}'}\n")
    expect(await toolsOf(resolved, {})).toEqual([])
    expect(await toolsOf(resolved, { operatorVariables: ['list'] })).toEqual(['alpha'])
  })

  test('if it is for targets of another type', async () => {
    const forAddresses =
      'kind: module\nname: ips\nsteps: [{name: mark, type: bash, command: "true"}]\ndependencies: {commands: [gamma], target_types: [ip]}\n'
    const resolved = await flowOf('', '  - {name: one, path: ips.yaml}\n  - {name: two, path: beta.yaml}\n', {
      'ips.yaml': forAddresses,
    })
    expect(await toolsOf(resolved, { targets: ['example.com'] })).toEqual(['beta'])
    expect(await toolsOf(resolved, { targets: ['192.0.2.1'] })).toEqual(['beta', 'gamma'])
  })

  test.each([
    ['an export', 'steps: [{name: set, type: bash, command: "echo true", exports: {flag: stdout}}]', true],
    ['a function', `steps: [{name: set, type: function, function: 'set_var("flag", true)'}]`, true],
    [
      'a function with a computed name',
      `steps: [{name: set, type: function, function: 'set_var("fl" + "ag", true)'}]`,
      true,
    ],
    [
      'an action',
      `steps: [{name: set, type: bash, command: "true", on_success: [{action: export, name: flag, value: "true"}]}]`,
      true,
    ],
    ['nothing', 'steps: [{name: set, type: bash, command: "echo flag", exports: {other: stdout}}]', false],
  ])('unless a module before it may change the variable with %s', async (_, steps, isNeeded) => {
    const setter = `kind: module\nname: setter\n${steps}\n`
    const refs = `  - {name: set, path: setter.yaml}
  - {name: one, path: alpha.yaml, depends_on: [set], condition: '{{flag}}'}\n`
    const resolved = await flowOf(PARAMS, refs, { 'setter.yaml': setter })
    expect(await started(resolved, 'example.com', {})).toBe(isNeeded)
    expect(await toolsOf(resolved, { targets: ['example.com'] })).toEqual(isNeeded ? ['alpha'] : [])
    const excluded = { params: { exclude_modules: 'set' }, targets: ['example.com'] }
    expect(await toolsOf(resolved, excluded)).toEqual([])
  })

  test('together with the modules that depend on what it exports', async () => {
    const chain = `kind: module
name: chain
dependencies: {commands: [gamma]}
steps: [{name: set, type: bash, command: "echo deep", exports: {mode: stdout}}]
`
    const refs = `  - {name: set, path: chain.yaml, condition: '{{flag}}'}
  - {name: one, path: alpha.yaml, depends_on: [set], condition: "mode == 'deep'"}\n`
    const resolved = await flowOf(PARAMS, refs, { 'chain.yaml': chain })
    expect(await toolsOf(resolved, {})).toEqual([])
    expect(await toolsOf(resolved, { params: { flag: 'true' } })).toEqual(['alpha', 'gamma'])
  })
})

describe('docker is needed', () => {
  const steps = (condition: string) => `kind: module
name: boxed
params: [{name: boxed, type: bool, default: false}]
steps:
  - {name: a, type: bash, command: "true"}
  - name: b
    type: remote-bash
    pre_condition: '${condition}'
    step_runner: docker
    step_runner_config: {image: alpine}
    command: "true"
`
  const load = async (text: string): Promise<ResolvedWorkflow> => {
    const library = await openLibrary([])
    await library.put('boxed.yaml', text)
    await library.put(
      'main.yaml',
      `${START}modules:\n  - {name: one, path: boxed.yaml, params: {boxed: "{{wanted}}"}}\nparams: [{name: wanted, type: bool, default: false}]\n`,
    )
    return resolveWorkflow(library, { name: 'boxed', kind: 'module' })
  }

  test('unless the condition of the step is certainly false', async () => {
    const resolved = await load(steps('{{boxed}}'))
    expect(await toolsOf(resolved, {})).toEqual([])
    expect(await toolsOf(resolved, { params: { boxed: 'true' } })).toEqual(['docker'])
    expect(await toolsOf(await load(steps('file_exists("x")')), {})).toEqual(['docker'])
  })

  test('in a flow by the params that it gives to the module', async () => {
    const library = await openLibrary([])
    await library.put('boxed.yaml', steps('{{boxed}}'))
    const refs = '  - {name: one, path: boxed.yaml, params: {boxed: "{{wanted}}"}}\n'
    await library.put(
      'main.yaml',
      `${START}params: [{name: wanted, type: bool, default: false}]\nmodules:\n${refs}`,
    )
    const resolved = resolveWorkflow(library, { name: 'main', kind: 'flow' })
    expect(await toolsOf(resolved, {})).toEqual([])
    expect(await toolsOf(resolved, { params: { wanted: 'true' } })).toEqual(['docker'])
  })

  test('for steps inside loops too', async () => {
    const text = `kind: module
name: boxed
steps:
  - name: each
    type: foreach
    input: list.txt
    variable: item
    step: {name: in, type: remote-bash, step_runner: docker, step_runner_config: {image: alpine}, command: "true"}
`
    expect(await toolsOf(await load(text), {})).toEqual(['docker'])
  })
})
