import { setMaxListeners } from 'node:events'
import type { ChatAnswer, ToolCall } from '@scanfarm/functions'
import { runPath, writeText, checkPath, askLlm, toChatAnswer, providersFor } from '@scanfarm/functions'
import type { AgentTool, Json, LlmConfig, SubAgent, Value } from '@scanfarm/language'
import { data, fromJson, isTruthy, parseDuration } from '@scanfarm/language'
import { evaluate } from '../step/evaluate.ts'
import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { renderPlain } from '../step/render.ts'
import { show } from '../step/row.ts'
import { failed, type StepEnd } from '../step/step-end.ts'
import { assistantMessage, matchesSchema, resumed, schemaOf, type Message } from './agent-messages.ts'
import { callTool, describeCall, toolsOf, type Tool } from './agent-tools.ts'
import { renderConfig, renderJson, samplingOf } from './llm.ts'

const MAX_ITERATIONS = 10
const MAX_DEPTH = 3
/** Default limit of tokens over all rounds of an agent, including its sub-agents. */
const MAX_TOKENS = 500_000
/** Default time limit of an agent. */
const TIMEOUT_MS = 30 * 60_000
const ANSWER_MS = 120_000
const TRIES = 3

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

export const renderAgent = (at: StepContext): AgentPlan => {
  const { step, module } = at
  const plain = (text: string | undefined) => renderPlain(text ?? '', at.scope)
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

interface AgentSpec {
  readonly system: string
  readonly tools: readonly AgentTool[]
  readonly subAgents: readonly SubAgent[]
  readonly models: readonly string[]
  readonly maxIterations: number
  readonly depth: number
  /** Settings that a sub-agent can override. */
  readonly own: Pick<
    SubAgent,
    'llm_config' | 'output_schema' | 'memory' | 'stop_condition' | 'on_tool_start' | 'on_tool_end'
  >
}

/** A tool call as hooks receive it. */
interface ToolCallEvent {
  readonly call: ToolCall
  readonly iteration: number
  readonly result: string
  readonly durationMs: number
}

type AgentResult = { readonly content: string } | { readonly error: string }

/** The state of an agent: conversation, tools, limits. */
class Agent {
  readonly totals: Totals = { iterations: 0, prompt: 0, completion: 0, total: 0 }
  readonly results: Json[] = []
  readonly #at: StepContext
  readonly #plan: AgentPlan
  readonly #signal: AbortSignal

  constructor(at: StepContext, plan: AgentPlan, signal: AbortSignal) {
    this.#at = at
    this.#plan = plan
    this.#signal = signal
  }

  /** Pursues one goal until the model requests no more tool calls. Appends all messages to the conversation. */
  async pursue(spec: AgentSpec, messages: Message[]): Promise<AgentResult> {
    const { step } = this.#at
    const tools = toolsOf(
      this.#at,
      spec.tools,
      spec.depth > 1 ? spec.subAgents : [],
      async (agent, query) => {
        const result = await this.#spawn(agent, query, spec.depth - 1)
        return 'error' in result ? `error: ${result.error}` : result.content
      },
    )
    let last = ''
    for (let round = 1; round <= spec.maxIterations; round++) {
      this.totals.iterations++
      const answer = await this.#ask(spec, messages, [...tools.values()])
      if ('error' in answer) return answer
      last = answer.content
      messages.push(assistantMessage(answer))
      if (answer.toolCalls.length === 0) return { content: last }
      await this.#callTools(spec, round, tools, answer.toolCalls, messages)
      if (await this.#stops(spec, last, round)) return { content: last }
      this.#dropOldest(spec, messages)
      if (this.totals.total > (step.max_tokens ?? MAX_TOKENS))
        return { error: 'the agent exceeded its limit of tokens' }
    }
    return { content: last }
  }

  async plan(spec: AgentSpec, goal: string): Promise<string> {
    const messages: Message[] = [{ role: 'user', content: `${this.#plan.planPrompt}\n\n${goal}` }]
    const limit = this.#at.step.plan_max_tokens
    const answer = await this.#ask(spec, messages, [], limit === undefined ? {} : { max_tokens: limit })
    return 'error' in answer ? '' : answer.content
  }

  async #spawn(agent: SubAgent, query: string, depth: number): Promise<AgentResult> {
    const { step } = this.#at
    const spec: AgentSpec = {
      system: renderPlain(agent.system_prompt ?? '', this.#at.scope),
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
    const system = spec.system === '' ? [] : [{ role: 'system', content: spec.system }]
    return await this.pursue(spec, [...system, { role: 'user', content: query }])
  }

  /** An API key is only sent to the address that it was configured for. */
  #configFor({ llm_config: own }: SubAgent): LlmConfig {
    const { api_key: _, custom_headers: __, ...rest } = this.#plan.config
    return own?.base_url === undefined && own?.provider === undefined ? this.#plan.config : rest
  }

  async #ask(
    { models, own }: AgentSpec,
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
      if (outcome.kind === 'cancelled') return { error: 'the agent exceeded its time limit' }
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
    spec: AgentSpec,
    iteration: number,
    tools: ReadonlyMap<string, Tool>,
    calls: readonly ToolCall[],
    messages: Message[],
  ): Promise<void> {
    const { step, module } = this.#at
    const one = async (call: ToolCall): Promise<string> => {
      await this.#hook(spec.own.on_tool_start, { call, iteration, result: '', durationMs: 0 })
      await show(this.#at, `> ${describeCall(call)}\n`)
      const { monotonic } = module.run.ports
      const startedAt = monotonic()
      const result = await callTool(tools, call)
      const durationMs = Math.round(monotonic() - startedAt)
      await this.#hook(spec.own.on_tool_end, { call, iteration, result, durationMs })
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

  async #hook(
    source: string | undefined,
    { call, iteration, result, durationMs }: ToolCallEvent,
  ): Promise<void> {
    if (source === undefined || source === '') return
    const { name, arguments: args } = call
    const error = result.startsWith('error: ') ? result.slice('error: '.length) : ''
    const names = { tool: name, args, tool_name: name, tool_args: args, result, error, iteration }
    const outcome = await evaluate(this.#at, source, { ...names, duration: durationMs })
    if (outcome.kind === 'error')
      this.#at.module.run.input.recorder.log('warn', `${this.#at.step.name}: tool hook: ${outcome.message}`)
  }

  async #stops({ own }: AgentSpec, content: string, iteration: number): Promise<boolean> {
    const source = own.stop_condition
    if (source === undefined || source === '') return false
    const result = await evaluate(this.#at, source, { content, iteration, agent_content: content })
    return result.kind === 'value' && isTruthy(fromJson(result.value))
  }

  /** Drops the oldest rounds of a conversation that is too long, but never separates a tool call from its result. */
  #dropOldest({ own }: AgentSpec, messages: Message[]): void {
    const most = own.memory?.max_messages
    if (most === undefined || messages.length <= most) return
    const kept = messages[0]?.['role'] === 'system' ? 2 : 1
    let from = messages.length - Math.max(1, most - kept)
    while (from < messages.length && messages[from]?.['role'] === 'tool') from++
    messages.splice(kept, Math.max(0, from - kept))
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

/** Runs a model that pursues goals with tools, bounded in rounds, time and tokens. */
export const runAgent = async (at: StepContext, plan: AgentPlan): Promise<StepEnd> => {
  const { run } = at.module
  const { step } = at
  const signal = AbortSignal.any([signalOf(at), AbortSignal.timeout(plan.timeoutMs)])
  // Each round and each tool adds a listener for some time.
  setMaxListeners(0, signal)
  const agent = new Agent(at, plan, signal)
  const spec: AgentSpec = {
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
    outline = plan.planPrompt === '' ? '' : await agent.plan(spec, goal)
    messages.push({ role: 'user', content: outline === '' ? goal : `${goal}\n\nPlan:\n${outline}` })
    const result = await agent.pursue(spec, messages)
    if (signalOf(at).aborted) return interruption(at)
    if ('error' in result) return failed(result.error)
    answers.push(result.content)
  }
  const content = answers.at(-1) ?? ''
  if (plan.persist !== '') {
    await writeText(plan.persist, JSON.stringify(messages, null, 2), run.input)
  }
  if (step.output_schema !== undefined && !matchesSchema(content))
    return failed('the answer of the agent is not valid JSON')
  await show(at, `${content}\n`)
  return {
    kind: 'done',
    stdout: content,
    output: content,
    exports: exportsOf(agent, content, messages, outline, answers),
  }
}
