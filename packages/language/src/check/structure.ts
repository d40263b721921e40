import { didYouMean } from '@scanfarm/contracts'
import type { Step, Workflow } from '../model.ts'
import { REFUSED_STEP_TYPES } from '../read/step-spec.ts'
import { findCircle } from './graph.ts'
import { checkDeclarations } from './params.ts'
import type { Report } from './report.ts'
import { everyStep, ofSiblings, type Path, type StepPosition } from './walk.ts'

const ONE_OF: Readonly<Record<string, readonly (keyof Step)[]>> = {
  bash: ['command', 'commands', 'parallel_commands'],
  'remote-bash': ['command', 'commands', 'parallel_commands'],
  function: ['function', 'functions', 'parallel_functions'],
  'parallel-steps': ['parallel_steps'],
  http: ['url'],
  llm: ['messages', 'embedding_input'],
}

const NEEDED: Readonly<Record<string, readonly (keyof Step)[]>> = {
  foreach: ['input', 'variable', 'step'],
  'remote-bash': ['step_runner'],
  agent: ['agent_tools'],
}

const stepContent = ({ step, path }: StepPosition, report: Report): void => {
  if (REFUSED_STEP_TYPES.includes(step.type)) {
    const message = `Steps of type ${step.type} are not supported.`
    const hint = 'Use an agent step with a model of an OpenAI-compatible endpoint instead.'
    return report([...path, 'type'], 'unsupported-step-type', 'error', message, hint)
  }
  const one = ONE_OF[step.type]
  if (one !== undefined && !one.some((key) => step[key] !== undefined)) {
    const message = `step '${step.name}': ${step.type} needs ${one.join(' or ')}`
    report(path, 'missing-required-field', 'error', message)
  }
  for (const key of NEEDED[step.type] ?? []) {
    if (step[key] !== undefined) continue
    report(path, 'missing-required-field', 'error', `step '${step.name}': ${step.type} needs ${key}`)
  }
  if (step.type === 'remote-bash' && step.step_runner === 'host') {
    const message = 'step_runner must be docker or ssh'
    report([...path, 'step_runner'], 'wrong-value', 'error', message, 'Use a bash step.')
  }
  if (step.type === 'agent') agentContent(step, path, report)
}

/** Functions whose effects on later items, or on the findings of the run, batches on other workers cannot have. */
const NOT_SPREAD = /(?<![\w.])(db_\w+|db[A-Z]\w*|os_setenv|osSetenv)\s*\(/

const spreadContent = ({ step, path, position }: StepPosition, report: Report): void => {
  if (step.spread === undefined) return
  const refuse = (message: string, hint: string): void =>
    report([...path, 'spread'], 'wrong-value', 'error', message, hint)
  if (step.type !== 'foreach') refuse(`${step.type} steps have no items to spread`, 'Remove spread.')
  else if (position === 'nested')
    refuse('a loop inside another step cannot be spread', 'Spread the outer loop, or move this one out.')
  const [, name] = NOT_SPREAD.exec(JSON.stringify(step.step ?? {})) ?? []
  if (name !== undefined)
    refuse(`items that call ${name} cannot be spread`, 'Call it in a step after the loop, or remove spread.')
}

const agentContent = (step: Step, path: Path, report: Report): void => {
  if ((step.query === undefined) === (step.queries === undefined)) {
    const message = `step '${step.name}': agent needs exactly one of query and queries`
    report(path, 'missing-required-field', 'error', message)
  }
}

const names = (
  items: readonly { name: string }[],
  path: Path,
  what: string,
  report: Report,
  later: string,
): void => {
  const seen = new Set<string>()
  for (const [index, { name }] of items.entries()) {
    if (name !== '' && seen.has(name)) {
      const message = `${what} name '${name}' occurs twice`
      report([...path, index, 'name'], `duplicate-${what}-name`, 'warning', message, later)
    }
    seen.add(name)
  }
}

const LATER = {
  param: 'The later one is used.',
  step: 'Both run; goto and depends_on mean the later one.',
  module: 'Only the later one runs.',
} as const

const dependencies = (
  items: readonly { name: string; depends_on?: string[] }[],
  path: Path,
  what: string,
  report: Report,
): void => {
  const known = new Set(items.map(({ name }) => name))
  for (const [index, item] of items.entries()) {
    for (const [position, wanted] of (item.depends_on ?? []).entries()) {
      if (known.has(wanted)) continue
      const message = `${what} '${item.name}' depends on non-existent ${what} '${wanted}'`
      const hint = () => didYouMean(wanted, known)
      report([...path, index, 'depends_on', position], 'invalid-depends-on', 'error', message, hint)
    }
  }
  const circle = findCircle(items)
  if (circle !== undefined) {
    report(path, 'circular-dependency', 'error', `circular dependency: ${circle.join(' -> ')}`)
  }
}

const gotos = ({ step, path }: StepPosition, known: ReadonlySet<string>, report: Report): void => {
  const check = (target: string | undefined, at: Path): void => {
    if (target === undefined || known.has(target)) return
    report(at, 'invalid-goto', 'warning', `goto names no step of this module: '${target}'`, () =>
      didYouMean(target, known),
    )
  }
  const { cases, default: otherwise, conditions } = step.decision ?? {}
  for (const [key, branch] of Object.entries(cases ?? {})) {
    check(branch.goto, [...path, 'decision', 'cases', key, 'goto'])
  }
  check(otherwise?.goto, [...path, 'decision', 'default', 'goto'])
  for (const [index, branch] of (conditions ?? []).entries()) {
    check(branch.goto, [...path, 'decision', 'conditions', index, 'goto'])
  }
}

const top = (workflow: Workflow, report: Report): void => {
  const inherits = workflow.extends !== undefined
  if (workflow.kind === 'module' && (workflow.steps ?? []).length === 0 && !inherits) {
    report(['steps'], 'empty-workflow', 'error', 'module must have at least one step')
  }
  if (workflow.kind === 'flow' && (workflow.modules ?? []).length === 0 && !inherits) {
    report(['modules'], 'empty-workflow', 'error', 'flow must have at least one module reference')
  }
  for (const [index, ref] of (workflow.modules ?? []).entries()) {
    if (ref.path === undefined && (ref.steps ?? []).length === 0) {
      const message = `module '${ref.name}' needs path or steps`
      report(['modules', index], 'missing-required-field', 'error', message)
    }
  }
  if (workflow.override?.steps !== undefined && workflow.kind !== 'module') {
    report(['override', 'steps'], 'wrong-value', 'error', 'override.steps is for modules only')
  }
  if (workflow.override?.modules !== undefined && workflow.kind !== 'flow') {
    report(['override', 'modules'], 'wrong-value', 'error', 'override.modules is for flows only')
  }
}

/** Rules about the structure of a workflow. */
export const checkStructure = (workflow: Workflow, report: Report): void => {
  top(workflow, report)
  names(workflow.params ?? [], ['params'], 'param', report, LATER.param)
  checkDeclarations(workflow, report)
  names(workflow.steps ?? [], ['steps'], 'step', report, LATER.step)
  dependencies(workflow.steps ?? [], ['steps'], 'step', report)
  names(workflow.modules ?? [], ['modules'], 'module', report, LATER.module)
  dependencies(workflow.modules ?? [], ['modules'], 'module', report)
  for (const [index, ref] of (workflow.modules ?? []).entries()) {
    names(ref.steps ?? [], ['modules', index, 'steps'], 'step', report, LATER.step)
    dependencies(ref.steps ?? [], ['modules', index, 'steps'], 'step', report)
  }
  const targets = ofSiblings((siblings) => new Set(['_end', ...siblings.map(({ name }) => name)]))
  for (const at of everyStep(workflow)) {
    stepContent(at, report)
    spreadContent(at, report)
    if (at.position === 'module') gotos(at, targets(at), report)
  }
}
