import { messageOf, type AgentTool, type Json, type SubAgent, singleQuoted } from '@scanfarm/language'
import { FUNCTIONS, type ToolCall } from '@scanfarm/functions'
import { runCommand } from '../runner/command.ts'
import { evaluate } from '../step/evaluate.ts'
import type { StepContext } from '../step/step-context.ts'

/** Maximum characters of a tool's result that the model receives. */
const MAX_RESULT = 16_384
/** Time limit of an agent's command. */
const COMMAND_MS = 300_000

export interface Tool {
  readonly name: string
  readonly schema: Json
  run(args: { [key: string]: Json }): Promise<string>
}

const shown = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

const bounded = (text: string): string =>
  text.length <= MAX_RESULT
    ? text
    : `${text.slice(0, MAX_RESULT)}\n[${text.length - MAX_RESULT} more characters]`

const functionSchema = (name: string, description: string, parameters: Json): Json => ({
  type: 'function',
  function: { name, description, parameters },
})

const objectSchema = (names: readonly string[]): Json => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), { type: 'string' }])),
  required: names.filter((name) => !name.endsWith('?')),
})

const bashTool = (at: StepContext): Tool => ({
  name: 'bash',
  schema: functionSchema(
    'bash',
    'Runs a shell command and returns its output and exit code.',
    objectSchema(['command']),
  ),
  async run({ command = '' }) {
    const runner = await at.module.run.runner(at.module.runner)
    const end = await runCommand(at, runner, shown(command), { timeoutMs: COMMAND_MS })
    const output = 'output' in end ? (end.output ?? '') : ''
    return end.kind === 'done' ? output : `${output}\n[${end.kind === 'failed' ? end.error : end.kind}]`
  },
})

/** A tool that calls a function of the library, with arguments by name. */
const functionTool = (at: StepContext, preset: string): Tool => {
  const definition = FUNCTIONS.get(preset)
  const names = (definition?.signature ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return {
    name: preset,
    schema: functionSchema(preset, definition?.doc ?? '', objectSchema(names)),
    async run(args) {
      const values = names.map((name) => args[name.replace('?', '')])
      while (values.length > 0 && values.at(-1) === undefined) values.pop()
      const call = `${preset}(${values.map((_, index) => `$args[${index}]`).join(', ')})`
      const result = await evaluate(at, call, { $args: values.map((value) => value ?? null) })
      return result.kind === 'value'
        ? shown(result.value)
        : `error: ${'message' in result ? result.message : 'cancelled'}`
    },
  }
}

const ownTool = (
  at: StepContext,
  { name = '', description = '', parameters, handler = '' }: AgentTool,
): Tool => ({
  name,
  schema: functionSchema(name, description, parameters ?? { type: 'object', properties: {} }),
  async run(args) {
    const result = await evaluate(at, handler, { args })
    return result.kind === 'value'
      ? shown(result.value)
      : `error: ${'message' in result ? result.message : 'cancelled'}`
  },
})

/** A tool that delegates a task to another agent; `spawn` runs that agent and returns its answer. */
const spawnTool = (
  agents: readonly SubAgent[],
  spawn: (agent: SubAgent, query: string) => Promise<string>,
): Tool => ({
  name: 'spawn_agent',
  schema: functionSchema(
    'spawn_agent',
    `Delegates a task to another agent: ${agents.map(({ name = '', description = '' }) => `${name} (${description})`).join(', ')}`,
    objectSchema(['agent', 'query']),
  ),
  async run({ agent = '', query = '' }) {
    const found = agents.find(({ name }) => name === agent)
    return found === undefined ? `error: there is no agent ${shown(agent)}` : await spawn(found, shown(query))
  },
})

/** The tools of an agent by name. */
export const toolsOf = (
  at: StepContext,
  tools: readonly AgentTool[],
  subAgents: readonly SubAgent[],
  spawn: (agent: SubAgent, query: string) => Promise<string>,
): Map<string, Tool> => {
  const made = tools.map((tool): Tool => {
    if (tool.preset === 'bash') return bashTool(at)
    return tool.preset === undefined ? ownTool(at, tool) : functionTool(at, tool.preset)
  })
  if (subAgents.length > 0) made.push(spawnTool(subAgents, spawn))
  return new Map(made.map((tool) => [tool.name, tool]))
}

/** Executes a tool call of the model. Errors are returned as text that the model can read. */
export const callTool = async (tools: ReadonlyMap<string, Tool>, call: ToolCall): Promise<string> => {
  const tool = tools.get(call.name)
  if (tool === undefined)
    return `error: there is no tool ${call.name}; there are ${[...tools.keys()].join(', ')}`
  let args: Json
  try {
    args = JSON.parse(call.arguments === '' ? '{}' : call.arguments) as Json
  } catch {
    return `error: the arguments are not JSON: ${call.arguments.slice(0, 200)}`
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return 'error: the arguments must be an object'
  try {
    return bounded(await tool.run(args))
  } catch (error) {
    return `error: ${messageOf(error)}`
  }
}

/** Shown in the output of the step. */
export const describeCall = (call: ToolCall): string =>
  `${call.name} ${singleQuoted(call.arguments.slice(0, 500))}`
