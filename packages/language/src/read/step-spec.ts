import type {
  Action,
  AgentTool,
  Branch,
  Decision,
  LlmConfig,
  LlmMessage,
  Retry,
  RunnerConfig,
  Step,
  SubAgent,
} from '../model.ts'
import {
  choice,
  flag,
  json,
  jsonMap,
  list,
  map,
  number,
  object,
  preferably,
  spec,
  text,
  textMap,
  texts,
  type Field,
  type ObjectSpec,
} from './field.ts'

export const STEP_TYPES = [
  'bash',
  'function',
  'parallel-steps',
  'foreach',
  'remote-bash',
  'http',
  'llm',
  'agent',
] as const

/** Step types of other systems that are not supported. */
export const REFUSED_STEP_TYPES: readonly string[] = ['agent-acp', 'agent-sdk']

export const RUNNER_TYPES = ['host', 'docker', 'ssh'] as const

export const runnerConfigSpec: ObjectSpec = spec<RunnerConfig>('runner_config', {
  image: text('Docker image.'),
  env: textMap('Environment of the commands.'),
  volumes: texts('Docker volumes, `source:target[:ro]`.'),
  network: text('Docker network.'),
  persistent: flag('One container for all commands of the module.'),
  host: text('Host of the ssh runner.'),
  port: number('Port of the ssh runner; default 22.'),
  user: text('User of the ssh runner.'),
  key_file: text('Private key file of the ssh runner.'),
  password: text('Password of the ssh runner.'),
  jump: text('Host that the ssh runner goes through, `user@host:port`.'),
  known_hosts: text('File of host keys that the ssh runner trusts.'),
  host_keys: choice(['strict', 'accept-new'], 'What the ssh runner does with a host whose key is not known.'),
  workdir: text('Folder in which commands start.'),
})

export const actionSpec: ObjectSpec = spec<Action>('action', {
  action: preferably(['log', 'export', 'notify', 'run', 'continue', 'abort'], 'What to do.', 'wanted'),
  condition: text('Expression; the action is taken only when it is true.'),
  message: text('Text for `log` and `notify`.'),
  name: text('Variable that `export` sets.'),
  value: text('Value for `export`.'),
  notify: text('Text for `notify`.'),
  type: preferably(['bash', 'function'], 'What `run` runs.'),
  command: text('Command for `run`.'),
  functions: texts('Expressions for `run`.'),
})

const branchFields: Readonly<Record<keyof Branch, Field>> = {
  goto: text('Name of the step to go on with; `_end` ends the module.'),
  command: text('Command to run first.'),
  commands: texts('Commands to run first.'),
  function: text('Expression to evaluate first.'),
  functions: texts('Expressions to evaluate first.'),
}
const branchSpec: ObjectSpec = spec<Branch>('branch', branchFields)

export const decisionSpec: ObjectSpec = spec<Decision>('decision', {
  switch: text('Template whose trimmed text chooses a case.'),
  cases: map(() => branchSpec, 'Branches by text.'),
  default: object(() => branchSpec, 'Branch when no case matches.'),
  conditions: list(
    () => spec<Branch & { if?: string }>('condition', { if: text('Expression.', true), ...branchFields }),
    'Every branch whose `if` is true is taken; the last `goto` wins.',
  ),
})

const retrySpec: ObjectSpec = spec<Retry>('retry', {
  attempts: number('Total number of attempts, including the first.', true),
  delay: text('Pause before the second try; default 1s.'),
  max_delay: text('Longest pause; default 60s.'),
  factor: number('Growth of the pause from try to try; default 2.'),
  exit_codes: {
    type: { kind: 'list', of: { kind: 'number' } },
    doc: 'Only these exit codes are tried again; default: every failure.',
  },
})

const messageSpec: ObjectSpec = spec<LlmMessage>('message', {
  role: choice(['system', 'user', 'assistant', 'tool'], 'Who speaks.', true),
  content: json('Text, or a list of content parts.'),
  name: text('Name of the speaker.'),
  tool_call_id: text('The call that a `tool` message answers.'),
})

const llmConfigSpec: ObjectSpec = spec<LlmConfig>('llm_config', {
  provider: text('Name of a provider in the settings.'),
  base_url: text(
    'Address of an OpenAI-compatible endpoint; only that of the settings gets the key of the settings.',
  ),
  api_key: text('Key for the endpoint, best from a param: `{{llm_key}}`.'),
  model: text('Model name.'),
  max_tokens: number('Longest answer, in tokens.'),
  temperature: number('Sampling temperature.'),
  top_k: number('Sampling top-k.'),
  top_p: number('Sampling top-p.'),
  n: number('How many answers.'),
  timeout: text('Longest wait for one answer.'),
  max_retries: number('Tries per provider; default 3.'),
  stream: flag('Ask for a streamed answer.'),
  response_format: json('`response_format` of the request.'),
  custom_headers: textMap('Extra headers.'),
})

const agentToolSpec: ObjectSpec = spec<AgentTool>('agent_tool', {
  preset: text('Name of a preset tool.'),
  name: text('Name of an own tool.'),
  description: text('What the tool does.'),
  parameters: json('JSON Schema of the arguments.'),
  handler: text('Expression that answers; the arguments are in `args`.'),
})

const subAgentSpec: ObjectSpec = spec<SubAgent>('sub_agent', {
  name: text('Name.', true),
  description: text('What it is good for.'),
  system_prompt: text('System prompt.'),
  agent_tools: list(() => agentToolSpec, 'Its tools.', 'preset'),
  max_iterations: number('Its bound on rounds.'),
  models: texts('Its models, tried in order.'),
  llm_config: object(() => llmConfigSpec, 'Its model settings, over those of the step.'),
  output_schema: json('JSON Schema that its answer is asked to follow.'),
  memory: object(() => memorySpec, 'What it remembers: `max_messages`.'),
  stop_condition: text('Expression; it stops when it is true.'),
  on_tool_start: text('Expression evaluated before each of its tool calls; default that of the step.'),
  on_tool_end: text('Expression evaluated after each of its tool calls; default that of the step.'),
  sub_agents: list(() => subAgentSpec, 'Agents that it may ask.'),
})

const memorySpec: ObjectSpec = spec<NonNullable<Step['memory']>>('memory', {
  max_messages: number('Longest conversation kept.'),
  summarize_on_truncate: flag('Summarise what falls out.'),
  persist_path: text('File that the conversation is written to.'),
  resume_path: text('File that a conversation is read from.'),
})

const relaxed = (spec: ObjectSpec, ...optional: string[]): ObjectSpec => ({
  name: spec.name,
  fields: Object.fromEntries(
    Object.entries(spec.fields).map(([key, field]) => [
      key,
      optional.includes(key) ? { ...field, required: false } : field,
    ]),
  ),
})

/** Nested steps and steps of inline modules need no name; hooks also need no type (bash). */
export const nestedStepSpec = (): ObjectSpec => relaxed(stepSpec, 'name')
export const hookStepSpec = (): ObjectSpec => relaxed(stepSpec, 'name', 'type')

/** Keys of unsupported step types. They are known, so that the only message is that the type is not supported. */
const REFUSED_KEYS = ['agent', 'cwd', 'allowed_paths', 'acp_config', 'sdk_config'] as const

export const stepSpec: ObjectSpec = spec<Step & Record<(typeof REFUSED_KEYS)[number], unknown>>('step', {
  name: text('Name, unique in its module.', true),
  type: choice([...STEP_TYPES, ...REFUSED_STEP_TYPES], 'What the step does.', true),
  description: text('For people.'),
  depends_on: texts('Steps that must end before; one use anywhere makes the whole list a graph.'),
  pre_condition: text('Expression; the step is skipped when it is false.'),
  log: text('Line for the log when the step starts.'),
  timeout: text(
    'Seconds, or `30s`, `5m`, `1h30m`, `2d`: of each command, or of all that a step of another type does.',
  ),
  retry: object(() => retrySpec, 'Tries a failed step again.', 'attempts'),
  exports: textMap('Variables that the step sets when it succeeds.'),
  on_success: list(() => actionSpec, 'Actions after success.', 'action'),
  on_error: list(() => actionSpec, 'Actions after failure; `continue` goes on with the next step.', 'action'),
  decision: object(() => decisionSpec, 'Chooses what comes next.'),
  suppress_details: flag('Keep command and output out of the record.'),
  command: text('One shell command.'),
  commands: texts('Shell commands, one after the other; the first failure ends the step.'),
  parallel_commands: texts('Shell commands, side by side; all of them run.'),
  std_file: text('File that the output is written to.'),
  speed_args: text('Appended to `command`, first.'),
  config_args: text('Appended to `command`, second.'),
  input_args: text('Appended to `command`, third.'),
  output_args: text('Appended to `command`, last.'),
  step_runner: choice(RUNNER_TYPES, 'Where a remote-bash step runs: docker or ssh.'),
  step_runner_config: object(() => runnerConfigSpec, 'Settings of `step_runner`.'),
  step_remote_file: text('File to bring back after the commands.'),
  host_output_file: text('Where the file is brought to.'),
  function: text('One expression.'),
  functions: texts('Expressions, one after the other.'),
  parallel_functions: texts('Expressions, side by side.'),
  parallel_steps: list(nestedStepSpec, 'Steps that run side by side.'),
  input: text('File with one item per line.'),
  variable: text('Name that the item gets.'),
  variable_pre_process: text('Expression that makes the value of the variable from the item.'),
  threads: text('How many items at once.'),
  step: object(nestedStepSpec, 'The step that runs for each item.'),
  url: text('Address to ask.'),
  method: text('Default GET.'),
  headers: textMap('Request headers.'),
  request_body: text('Request body.'),
  messages: list(() => messageSpec, 'The conversation.'),
  tools: { type: { kind: 'list', of: { kind: 'json' } }, doc: 'Tools offered to the model.' },
  tool_choice: json('Which tool the model should use.'),
  llm_config: object(() => llmConfigSpec, 'Model settings.'),
  is_embedding: flag('Ask for embeddings of `embedding_input`.'),
  embedding_input: texts('Texts to embed.'),
  extra_llm_parameters: jsonMap('Added to the request as they are.'),
  stream: flag('Ask for a streamed answer.'),
  query: text('The goal of an agent.'),
  queries: texts('Several goals in one conversation.'),
  system_prompt: text('System prompt of an agent.'),
  agent_tools: list(() => agentToolSpec, 'Tools of an agent.', 'preset'),
  parallel_tool_calls: flag('Run the calls of one answer side by side; default true.'),
  max_iterations: number('Bound on the rounds of an agent.'),
  max_tokens: number('Bound on the tokens of an agent, over all rounds.'),
  stop_condition: text('Expression; the agent stops when it is true.'),
  memory: object(() => memorySpec, 'What the agent remembers.'),
  plan_prompt: text('Asks for a plan before the first round.'),
  plan_max_tokens: number('Longest plan, in tokens.'),
  models: texts('Models, tried in order.'),
  output_schema: json('JSON Schema that the final answer must follow.'),
  on_tool_start: text(
    'Expression evaluated before each tool call; `tool_name`, `tool_args` and `iteration` are there.',
  ),
  on_tool_end: text(
    'Expression evaluated after each tool call; also `result`, `error` and `duration` in milliseconds.',
  ),
  sub_agents: list(() => subAgentSpec, 'Agents that this one may ask.'),
  max_agent_depth: number('How deep agents may ask agents; default 3.'),
  agent: json('Not supported.'),
  cwd: json('Not supported.'),
  allowed_paths: json('Not supported.'),
  acp_config: json('Not supported.'),
  sdk_config: json('Not supported.'),
})
