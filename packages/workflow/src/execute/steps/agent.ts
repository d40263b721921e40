import { setMaxListeners } from 'node:events'
import { runPath, writeText } from '../../functions/files.ts'
import { checkPath } from '../../functions/run-folder.ts'
import { readText } from '../../functions/file.ts'
import type { RunPlace } from '../../functions/allowed.ts'
import { askLlm, toChatAnswer, type ChatAnswer, type ToolCall } from '../../llm/client.ts'
import { providersFor } from '../../llm/providers.ts'
import type { AgentTool, Json, LlmConfig, SubAgent } from '../../model.ts'
import { data, fromJson, isTruthy, type Value } from '../../template/value.ts'
import { parseDuration } from '../duration.ts'
import { evaluate } from '../evaluate.ts'
import type { StepRun } from '../place.ts'
import { renderPlain } from '../render.ts'
import { failed, type StepEnd } from '../step-end.ts'
import { interruption, signalOf } from '../step-limit.ts'
import { callTool, describeCall, toolsOf, type Tool } from './agent-tools.ts'
import { renderConfig, renderJson, samplingOf } from './llm.ts'

const MAX_ITERATIONS = 10
const MAX_DEPTH = 3
/** Tokens over all rounds of one agent, its helpers included, unless the step says otherwise. */
const MAX_TOKENS = 500_000
/** Time for a whole agent, unless the step says otherwise. */
const TIMEOUT_MS = 30 * 60_000
const ANSWER_MS = 120_000
const TRIES = 3

type Message = { [key: string]: Json }

export interface AgentPlan {
  readonly goals: readonly string[]
  readonly system: string
  readonly planPrompt: string
  readonly config: LlmConfig
  readonly models: readonly string[]
  readonly timeoutMs: number
  readonly persist: string
  readonly resume: string
}

export const renderAgent = (at: StepRun): AgentPlan => {
  const { step, module } = at
  const plain = (text: string | undefined) => renderPlain(module.run.engine, text ?? '', at.scope)
  const path = (text: string | undefined) => runPath(plain(text), module.run.input)
  return {
    goals: (step.queries ?? [step.query ?? '']).map(plain),
    system: plain(step.system_prompt),
    planPrompt: plain(step.plan_prompt),
    config: renderConfig(at, step.llm_config),
    models: (step.models ?? []).map(plain),
    timeoutMs: parseDuration(plain(step.timeout)) || TIMEOUT_MS,
    persist: path(step.memory?.persist_path),
    resume: path(step.memory?.resume_path),
  }
}

interface Totals {
  iterations: number
  prompt: number
  completion: number
  total: number
}

interface Who {
  readonly system: string
  readonly tools: readonly AgentTool[]
  readonly subAgents: readonly SubAgent[]
  readonly models: readonly string[]
  readonly maxIterations: number
  readonly depth: number
  /** What else of a step's agent a helper can have of its own. */
  readonly own: Pick<
    SubAgent,
    'llm_config' | 'output_schema' | 'memory' | 'stop_condition' | 'on_tool_start' | 'on_tool_end'
  >
}

/** One call of a tool, as hooks see it. */
interface Called {
  readonly call: ToolCall
  readonly iteration: number
  readonly result: string
  readonly durationMs: number
}

type Told = { readonly content: string } | { readonly error: string }

/** The whole of an agent's work: conversation, tools, bounds. */
class Agent {
  readonly totals: Totals = { iterations: 0, prompt: 0, completion: 0, total: 0 }
  readonly results: Json[] = []
  readonly #at: StepRun
  readonly #plan: AgentPlan
  readonly #signal: AbortSignal

  constructor(at: StepRun, plan: AgentPlan, signal: AbortSignal) {
    this.#at = at
    this.#plan = plan
    this.#signal = signal
  }

  /** Works on one goal until the model has no more calls; the conversation grows by everything said. */
  async pursue(who: Who, messages: Message[]): Promise<Told> {
    const { step } = this.#at
    const tools = toolsOf(this.#at, who.tools, who.depth > 1 ? who.subAgents : [], async (agent, query) => {
      const told = await this.#spawn(agent, query, who.depth - 1)
      return 'error' in told ? `error: ${told.error}` : told.content
    })
    let last = ''
    for (let round = 1; round <= who.maxIterations; round++) {
      this.totals.iterations++
      const answer = await this.#ask(who, messages, [...tools.values()])
      if ('error' in answer) return answer
      last = answer.content
      messages.push(assistantMessage(answer))
      if (answer.toolCalls.length === 0) return { content: last }
      await this.#callTools(who, round, tools, answer.toolCalls, messages)
      if (await this.#stops(who, last, round)) return { content: last }
      this.#forget(who, messages)
      if (this.totals.total > (step.max_tokens ?? MAX_TOKENS))
        return { error: 'the agent has used up its tokens' }
    }
    return { content: last }
  }

  async plan(who: Who, goal: string): Promise<string> {
    const messages: Message[] = [{ role: 'user', content: `${this.#plan.planPrompt}\n\n${goal}` }]
    const limit = this.#at.step.plan_max_tokens
    const answer = await this.#ask(who, messages, [], limit === undefined ? {} : { max_tokens: limit })
    return 'error' in answer ? '' : answer.content
  }

  async #spawn(agent: SubAgent, query: string, depth: number): Promise<Told> {
    const { step, module } = this.#at
    const who: Who = {
      system: renderPlain(module.run.engine, agent.system_prompt ?? '', this.#at.scope),
      tools: agent.agent_tools ?? [],
      subAgents: agent.sub_agents ?? [],
      own: {
        ...agent,
        on_tool_start: agent.on_tool_start ?? step.on_tool_start ?? '',
        on_tool_end: agent.on_tool_end ?? step.on_tool_end ?? '',
        llm_config: { ...this.#configFor(agent), ...renderConfig(this.#at, agent.llm_config) },
      },
      models: agent.models ?? [],
      maxIterations: agent.max_iterations ?? MAX_ITERATIONS,
      depth,
    }
    const system = who.system === '' ? [] : [{ role: 'system', content: who.system }]
    return await this.pursue(who, [...system, { role: 'user', content: query }])
  }

  /** Keys are for the address that they were given with. */
  #configFor({ llm_config: own }: SubAgent): LlmConfig {
    const { api_key: _, custom_headers: __, ...rest } = this.#plan.config
    return own?.base_url === undefined && own?.provider === undefined ? this.#plan.config : rest
  }

  async #ask(
    { models, own }: Who,
    messages: readonly Message[],
    tools: readonly Tool[],
    more: { [key: string]: Json } = {},
  ): Promise<ChatAnswer | { error: string }> {
    const { module } = this.#at
    const config = own.llm_config ?? this.#plan.config
    const schema = schemaOf(own.output_schema)
    const body: { [key: string]: Json } = {
      messages: [...messages],
      ...samplingOf(config),
      ...(tools.length === 0 ? {} : { tools: tools.map((tool) => tool.schema) }),
      ...(schema === undefined
        ? {}
        : {
            response_format: {
              type: 'json_schema',
              json_schema: { name: 'answer', schema: renderJson(this.#at, schema) },
            },
          }),
      ...more,
    }
    let error = ''
    for (const model of models.length === 0 ? [config.model] : models) {
      const providers = providersFor(
        { ...config, ...(model === undefined ? {} : { model }) },
        module.run.input.services?.llm,
      )
      const outcome = await askLlm(providers, {
        path: '/chat/completions',
        body,
        headers: config.custom_headers ?? {},
        timeoutMs: parseDuration(config.timeout ?? '') ?? ANSWER_MS,
        tries: config.max_retries ?? TRIES,
        signal: this.#signal,
      })
      if (outcome.kind === 'cancelled') return { error: 'the agent ran out of time' }
      if (outcome.kind === 'answer') {
        const answer = toChatAnswer(outcome.json)
        this.totals.prompt += answer.usage.prompt
        this.totals.completion += answer.usage.completion
        this.totals.total += answer.usage.total
        return answer
      }
      error = outcome.message
    }
    return { error: `language model: ${error}` }
  }

  async #callTools(
    who: Who,
    iteration: number,
    tools: ReadonlyMap<string, Tool>,
    calls: readonly ToolCall[],
    messages: Message[],
  ): Promise<void> {
    const { step, module } = this.#at
    const one = async (call: ToolCall): Promise<string> => {
      await this.#hook(who.own.on_tool_start, { call, iteration, result: '', durationMs: 0 })
      this.#print(`> ${describeCall(call)}\n`)
      const { monotonic } = module.run.ports
      const startedAt = monotonic()
      const result = await callTool(tools, call)
      const durationMs = Math.round(monotonic() - startedAt)
      await this.#hook(who.own.on_tool_end, { call, iteration, result, durationMs })
      this.results.push({ tool: call.name, arguments: call.arguments, result })
      return result
    }
    const answers: string[] = []
    if (step.parallel_tool_calls === false) for (const call of calls) answers.push(await one(call))
    else answers.push(...(await Promise.all(calls.slice(0, module.run.limits.parallel * 4).map(one))))
    for (const [index, call] of calls.entries()) {
      const content = answers[index] ?? 'error: too many calls at once'
      messages.push({ role: 'tool', tool_call_id: call.id, name: call.name, content })
    }
  }

  async #hook(source: string | undefined, { call, iteration, result, durationMs }: Called): Promise<void> {
    if (source === undefined || source === '') return
    const { name, arguments: args } = call
    const error = result.startsWith('error: ') ? result.slice('error: '.length) : ''
    const names = { tool: name, args, tool_name: name, tool_args: args, result, error, iteration }
    const outcome = await evaluate(this.#at, source, { ...names, duration: durationMs })
    if (outcome.kind === 'error')
      this.#at.module.run.input.recorder.log(
        'warn',
        `${this.#at.step.name}: hook of a tool: ${outcome.message}`,
      )
  }

  async #stops({ own }: Who, content: string, iteration: number): Promise<boolean> {
    const source = own.stop_condition
    if (source === undefined || source === '') return false
    const result = await evaluate(this.#at, source, { content, iteration, agent_content: content })
    return result.kind === 'value' && isTruthy(fromJson(result.value))
  }

  /** Drops the oldest rounds of a conversation that has become too long, never between a call and its answer. */
  #forget({ own }: Who, messages: Message[]): void {
    const most = own.memory?.max_messages
    if (most === undefined || messages.length <= most) return
    const kept = messages[0]?.['role'] === 'system' ? 2 : 1
    let from = messages.length - Math.max(1, most - kept)
    while (from < messages.length && messages[from]?.['role'] === 'tool') from++
    messages.splice(kept, Math.max(0, from - kept))
  }

  #print(text: string): void {
    if (this.#at.step.suppress_details === true) return
    void this.#at.module.run.input.recorder.output(this.#at.key, 'stdout', Buffer.from(text))
  }
}

const assistantMessage = ({ content, toolCalls }: ChatAnswer): Message => ({
  role: 'assistant',
  content,
  ...(toolCalls.length === 0
    ? {}
    : {
        tool_calls: toolCalls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      }),
})

const resumed = async (path: string, place: RunPlace): Promise<Message[]> => {
  if (path === '') return []
  const text = await readText(path, place)
  const value = text === '' ? [] : (JSON.parse(text) as Json)
  return Array.isArray(value)
    ? value.filter(
        (item): item is Message => typeof item === 'object' && item !== null && !Array.isArray(item),
      )
    : []
}

/** A schema, also one that is written as JSON text. */
const schemaOf = (schema: Json | undefined): Json | undefined => {
  if (typeof schema !== 'string') return schema
  if (schema.trim() === '') return undefined
  try {
    return JSON.parse(schema) as Json
  } catch {
    return schema
  }
}

const matchesSchema = (content: string): boolean => {
  try {
    JSON.parse(content)
    return true
  } catch {
    return false
  }
}

const exportsOf = (
  agent: Agent,
  content: string,
  messages: readonly Message[],
  plan: string,
  goals: readonly string[],
): Record<string, Value> => ({
  agent_content: data(content),
  agent_history: data(JSON.stringify(messages)),
  agent_iterations: agent.totals.iterations,
  agent_total_tokens: agent.totals.total,
  agent_prompt_tokens: agent.totals.prompt,
  agent_completion_tokens: agent.totals.completion,
  agent_tool_results: data(JSON.stringify(agent.results)),
  agent_plan: data(plan),
  agent_goal_results: data(JSON.stringify(goals)),
})

/** A model that works on goals with tools, bounded in rounds, time and tokens. */
export const runAgent = async (at: StepRun, plan: AgentPlan): Promise<StepEnd> => {
  const { run } = at.module
  const { step } = at
  const signal = AbortSignal.any([signalOf(at), AbortSignal.timeout(plan.timeoutMs)])
  // Every round and every tool listens to it for a while.
  setMaxListeners(0, signal)
  const agent = new Agent(at, plan, signal)
  const who: Who = {
    system: plan.system,
    tools: step.agent_tools ?? [],
    subAgents: step.sub_agents ?? [],
    models: plan.models,
    maxIterations: step.max_iterations ?? MAX_ITERATIONS,
    depth: step.max_agent_depth ?? MAX_DEPTH,
    own: { ...step, llm_config: plan.config },
  }
  if (plan.persist !== '') await checkPath(plan.persist, run.input, 'write')
  const messages = await resumed(plan.resume, run.input)
  if (messages.length === 0 && plan.system !== '') messages.push({ role: 'system', content: plan.system })
  const answers: string[] = []
  let outline = ''
  for (const goal of plan.goals) {
    outline = plan.planPrompt === '' ? '' : await agent.plan(who, goal)
    messages.push({ role: 'user', content: outline === '' ? goal : `${goal}\n\nPlan:\n${outline}` })
    const told = await agent.pursue(who, messages)
    if (signalOf(at).aborted) return interruption(at)
    if ('error' in told) return failed(told.error)
    answers.push(told.content)
  }
  const content = answers.at(-1) ?? ''
  if (plan.persist !== '') {
    await writeText(plan.persist, JSON.stringify(messages, null, 2), run.input)
  }
  if (step.output_schema !== undefined && !matchesSchema(content))
    return failed('the answer of the agent is not the JSON that was asked for')
  if (step.suppress_details !== true)
    await run.input.recorder.output(at.key, 'stdout', Buffer.from(`${content}\n`))
  return {
    kind: 'done',
    stdout: content,
    output: content,
    exports: exportsOf(agent, content, messages, outline, answers),
  }
}
