import type { Action, AgentTool, Branch, Step, SubAgent, Workflow } from '../model.ts'
import { everyStep, type Path, type StepPosition } from './walk.ts'

/** A text that is rendered, executed or evaluated, with its kind. */
export interface AuthorText {
  readonly path: Path
  readonly text: string
  readonly kind: 'template' | 'shell' | 'expression' | 'export'
  /** Names that exist only here: variables of the enclosing loops. */
  readonly names: readonly string[]
}

type Kind = AuthorText['kind']

const PLAIN: readonly (keyof Step)[] = [
  'log', 'timeout', 'std_file', 'step_remote_file', 'host_output_file', 'input', 'threads', 'url', 'method', 'request_body',
  'query', 'system_prompt', 'plan_prompt',
] // prettier-ignore
const SHELL: readonly (keyof Step)[] = ['command', 'commands', 'parallel_commands']
const ARGUMENTS: readonly (keyof Step)[] = ['speed_args', 'config_args', 'input_args', 'output_args']
const EXPRESSIONS: readonly (keyof Step)[] = [
  'pre_condition', 'function', 'functions', 'parallel_functions',
] // prettier-ignore

const textsOf = function* (
  value: unknown,
  path: Path,
  kind: Kind,
  names: readonly string[],
): Generator<AuthorText> {
  if (typeof value === 'string') yield { path, text: value, kind, names }
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield* textsOf(item, [...path, Array.isArray(value) ? Number(key) : key], kind, names)
    }
  }
}

const branchTexts = function* (
  branch: Branch | undefined,
  path: Path,
  names: readonly string[],
): Generator<AuthorText> {
  if (branch === undefined) return
  yield* textsOf(branch.command, [...path, 'command'], 'shell', names)
  yield* textsOf(branch.commands, [...path, 'commands'], 'shell', names)
  yield* textsOf(branch.function, [...path, 'function'], 'expression', names)
  yield* textsOf(branch.functions, [...path, 'functions'], 'expression', names)
}

const actionTexts = function* (
  actions: readonly Action[],
  path: Path,
  names: readonly string[],
): Generator<AuthorText> {
  for (const [index, action] of actions.entries()) {
    const at = [...path, index]
    yield* textsOf(action.condition, [...at, 'condition'], 'expression', names)
    yield* textsOf(action.functions, [...at, 'functions'], 'expression', names)
    yield* textsOf(action.command, [...at, 'command'], 'shell', names)
    for (const key of ['message', 'notify', 'value'] as const)
      yield* textsOf(action[key], [...at, key], 'template', names)
  }
}

/** Variables of tool hooks. */
const CALL_NAMES = ['tool', 'args', 'tool_name', 'tool_args', 'result', 'error', 'iteration', 'duration']
const STOP_NAMES = ['content', 'iteration', 'agent_content']

/** Expressions of an agent, its tools and its sub-agents. */
const agentTexts = function* (
  agent: Pick<SubAgent, 'stop_condition' | 'on_tool_start' | 'on_tool_end'> & {
    readonly agent_tools?: readonly AgentTool[]
    readonly sub_agents?: readonly SubAgent[]
  },
  path: Path,
  names: readonly string[],
): Generator<AuthorText> {
  yield* textsOf(agent.stop_condition, [...path, 'stop_condition'], 'expression', [...names, ...STOP_NAMES])
  for (const key of ['on_tool_start', 'on_tool_end'] as const)
    yield* textsOf(agent[key], [...path, key], 'expression', [...names, ...CALL_NAMES])
  for (const [index, { handler }] of (agent.agent_tools ?? []).entries())
    yield* textsOf(handler, [...path, 'agent_tools', index, 'handler'], 'expression', [...names, 'args'])
  for (const [index, helper] of (agent.sub_agents ?? []).entries()) {
    const at = [...path, 'sub_agents', index]
    yield* textsOf(helper.system_prompt, [...at, 'system_prompt'], 'template', names)
    yield* agentTexts(helper, at, names)
  }
}

/** In a loop, `[[ x ]]` is a template too. */
const loopSyntax = (text: string, names: readonly string[]): string =>
  names.length === 0
    ? text
    : text.replaceAll(/\[\[\s*(\w+)\s*\]\]/g, (whole, name: string) =>
        names.includes(name) ? `{{${name}}}` : whole,
      )

const stepTexts = function* ({ step, path, loopNames: names }: StepPosition): Generator<AuthorText> {
  const inner = names.filter((name) => name !== step.variable || path.includes('step'))
  const all = function* (keys: readonly (keyof Step)[], kind: Kind) {
    for (const key of keys)
      if (step[key] !== undefined) yield* textsOf(step[key], [...path, key], kind, inner)
  }
  yield* all(PLAIN, 'template')
  yield* all(SHELL, 'shell')
  // These texts follow a command, so that they begin as arguments.
  for (const text of all(ARGUMENTS, 'shell')) yield { ...text, text: `x ${text.text}` }
  yield* all(EXPRESSIONS, 'expression')
  yield* agentTexts(step, path, inner)
  yield* all(['headers', 'queries', 'embedding_input', 'step_runner_config'], 'template')
  for (const [index, { content }] of (step.messages ?? []).entries()) {
    yield* textsOf(content, [...path, 'messages', index, 'content'], 'template', inner)
  }
  yield* textsOf(step.exports, [...path, 'exports'], 'export', inner)
  yield* textsOf(
    step.variable_pre_process?.replaceAll(/\[\[\s*\w+\s*\]\]/g, 'x'),
    [...path, 'variable_pre_process'],
    'expression',
    [...names, 'x'],
  )
  yield* actionTexts(step.on_success ?? [], [...path, 'on_success'], inner)
  yield* actionTexts(step.on_error ?? [], [...path, 'on_error'], inner)
  yield* textsOf(step.decision?.switch, [...path, 'decision', 'switch'], 'template', inner)
  for (const [key, branch] of Object.entries(step.decision?.cases ?? {})) {
    yield* branchTexts(branch, [...path, 'decision', 'cases', key], inner)
  }
  yield* branchTexts(step.decision?.default, [...path, 'decision', 'default'], inner)
  for (const [index, branch] of (step.decision?.conditions ?? []).entries()) {
    const at = [...path, 'decision', 'conditions', index]
    yield* textsOf(branch.if, [...at, 'if'], 'expression', inner)
    yield* branchTexts(branch, at, inner)
  }
}

/** All texts of a workflow that are rendered, executed or evaluated. */
export const authorTexts = function* (workflow: Workflow): Generator<AuthorText> {
  for (const place of everyStep(workflow)) {
    for (const text of stepTexts(place)) yield { ...text, text: loopSyntax(text.text, text.names) }
  }
  for (const [index, ref] of (workflow.modules ?? []).entries()) {
    const path = ['modules', index]
    yield* textsOf(ref.condition, [...path, 'condition'], 'expression', [])
    yield* textsOf(ref.params, [...path, 'params'], 'template', [])
    yield* actionTexts(ref.on_success ?? [], [...path, 'on_success'], [])
    yield* actionTexts(ref.on_error ?? [], [...path, 'on_error'], [])
  }
  for (const [index, param] of (workflow.params ?? []).entries()) {
    yield* textsOf(param.default, ['params', index, 'default'], 'template', [])
  }
  for (const [index, report] of (workflow.reports ?? []).entries()) {
    yield* textsOf(report.path, ['reports', index, 'path'], 'template', [])
    yield* textsOf(report.description, ['reports', index, 'description'], 'template', [])
  }
  yield* textsOf(
    workflow.dependencies?.functions_conditions,
    ['dependencies', 'functions_conditions'],
    'expression',
    [],
  )
}
