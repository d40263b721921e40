import { isAbsolute } from 'node:path'
import { parseDuration } from '../duration.ts'
import type { FunctionTable } from '../function-table.ts'
import { GENERATOR_NAMES, TARGET_TYPES, AGENT_PRESETS } from '../vocabulary.ts'
import type { AgentTool, SubAgent, Workflow } from '../model.ts'
import { didYouMean } from '@scanfarm/contracts'
import { expressionProblems } from '../trigger/check.ts'
import { cronProblem, isTimezone } from '../trigger/cron.ts'
import type { Report } from './report.ts'
import { everyStep, ofSiblings } from './walk.ts'

/** Problems of a trigger are warnings: they disable that trigger, and the workflow can still be started by hand. */
const triggers = (workflow: Workflow, report: Report, functions: FunctionTable): void => {
  for (const [index, trigger] of (workflow.triggers ?? []).entries()) {
    const path = ['triggers', index]
    const { schedule = '', timezone = 'UTC' } = trigger
    if (trigger.on === 'cron') {
      const problem =
        schedule.trim() === '' ? 'a cron trigger needs a schedule' : cronProblem(schedule, timezone)
      const [wrong, hint] = isTimezone(timezone) ? ['schedule', 'For example: 0 3 * * *'] : ['timezone', '']
      if (problem !== undefined) report([...path, wrong], 'wrong-value', 'warning', problem, hint)
    }
    if (trigger.on === 'watch' && (trigger.path ?? '') === '') {
      report(path, 'missing-required-field', 'warning', 'a watch trigger needs path')
    } else if (trigger.on === 'watch' && !isAbsolute(trigger.path ?? '')) {
      report([...path, 'path'], 'wrong-value', 'warning', 'the path of a watch trigger must be absolute')
    }
    for (const { path: at, message } of expressionProblems(trigger, functions))
      report([...path, ...at], 'trigger-expression', 'warning', message)
    const window = trigger.event?.dedupe_window
    if (window !== undefined && parseDuration(window) === undefined) {
      const [message, hint] = [`'${window}' is not a duration`, 'For example: 30s, 5m, 1h30m']
      report([...path, 'event', 'dedupe_window'], 'wrong-value', 'warning', message, hint)
    }
  }
}

const steps = (workflow: Workflow, report: Report): void => {
  const haveNeeds = ofSiblings((siblings) =>
    siblings.some(({ depends_on: needs }) => (needs ?? []).length > 0),
  )
  for (const place of everyStep(workflow)) {
    const { step, path, position } = place
    const { decision } = step
    const isGraph = position === 'module' && haveNeeds(place)
    const jumps = [
      ...Object.values(decision?.cases ?? {}),
      decision?.default,
      ...(decision?.conditions ?? []),
    ]
    if (isGraph && jumps.some((branch) => branch?.goto !== undefined)) {
      const message = 'a goto has no effect where steps have depends_on'
      report([...path, 'decision'], 'goto-in-graph', 'warning', message)
    }
    agentTools(step.agent_tools ?? [], [...path, 'agent_tools'], report)
    subAgents(step.sub_agents ?? [], [...path, 'sub_agents'], report)
  }
}

/** Sub-agents of an agent, recursively. */
const subAgents = (agents: readonly SubAgent[], path: readonly (string | number)[], report: Report): void => {
  const seen = new Set<string>()
  for (const [index, { name = '', agent_tools = [], sub_agents = [] }] of agents.entries()) {
    const at = [...path, index]
    if (name !== '' && seen.has(name))
      report([...at, 'name'], 'duplicate-sub-agent-name', 'error', `the sub-agent '${name}' occurs twice`)
    seen.add(name)
    agentTools(agent_tools, [...at, 'agent_tools'], report)
    subAgents(sub_agents, [...at, 'sub_agents'], report)
  }
}

const agentTools = (
  tools: readonly AgentTool[],
  path: readonly (string | number)[],
  report: Report,
): void => {
  const seen = new Set<string>()
  for (const [index, { preset, name, handler }] of tools.entries()) {
    const at = [...path, index]
    if (preset !== undefined && !AGENT_PRESETS.includes(preset)) {
      report(at, 'wrong-value', 'error', `there is no preset tool '${preset}'`, () =>
        didYouMean(preset, AGENT_PRESETS),
      )
    }
    if (preset === undefined && (name === undefined || handler === undefined)) {
      report(at, 'missing-required-field', 'error', 'a tool needs preset, or name and handler')
    }
    const key = preset ?? name ?? ''
    if (seen.has(key)) report(at, 'duplicate-tool-name', 'error', `the tool '${key}' occurs twice`)
    seen.add(key)
  }
}

const inheritance = (workflow: Workflow, report: Report): void => {
  if (workflow.extends === undefined) return
  for (const key of ['steps', 'modules', 'params', 'hooks', 'dependencies', 'triggers', 'reports'] as const) {
    if (workflow[key] === undefined) continue
    const message = `"${key}" of a workflow with extends has no effect`
    report([key], 'ignored-with-extends', 'warning', message, `Write it under override.`)
  }
}

const words = (workflow: Workflow, report: Report): void => {
  for (const [index, type] of (workflow.dependencies?.target_types ?? []).entries()) {
    if (TARGET_TYPES.some((known) => known === type)) continue
    const hint = () => didYouMean(type, TARGET_TYPES)
    const path = ['dependencies', 'target_types', index]
    report(path, 'wrong-value', 'error', `unknown target_types: ${type}`, hint)
  }
  for (const [index, { generator }] of (workflow.params ?? []).entries()) {
    const name = /^\s*(\w+)\s*\(/.exec(generator ?? '')?.[1]
    if (generator === undefined || generator === '' || GENERATOR_NAMES.some((known) => known === name))
      continue
    const hint = () => didYouMean(name ?? generator, GENERATOR_NAMES)
    const path = ['params', index, 'generator']
    report(path, 'wrong-value', 'error', `there is no generator '${generator}'`, hint)
  }
}

/** Rules about values with a format, and about keys without effect. */
export const checkLintRules = (workflow: Workflow, report: Report, functions: FunctionTable): void => {
  inheritance(workflow, report)
  triggers(workflow, report, functions)
  words(workflow, report)
  steps(workflow, report)
}
