import {
  apart,
  argument,
  choice,
  exported,
  expression,
  flag,
  formed,
  json,
  jsons,
  jsonMap,
  list,
  map,
  number,
  numbers,
  object,
  of,
  preferably,
  shell,
  spec,
  template,
  text,
  textMap,
  texts,
  whole,
  type Having,
  type ObjectSpec,
  type ValueOf,
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

export const runnerConfigSpec = spec('runner_config', {
  image: text('Docker image.'),
  env: textMap('Environment of the commands.'),
  volumes: texts('Docker volumes, `source:target[:ro]`.'),
  network: text('Docker network.'),
  persistent: flag('One container for all commands of the module.'),
  host: text('Host of the ssh runner.'),
  port: whole('Port of the ssh runner; default 22.', { min: 1, max: 65_535 }),
  user: text('User of the ssh runner.'),
  key_file: text('Private key file of the ssh runner.'),
  password: text('Password of the ssh runner.'),
  jump: text('Jump host of the ssh runner, `user@host:port`.'),
  known_hosts: text('File of the host keys that the ssh runner trusts.'),
  host_keys: choice(
    ['strict', 'accept-new'],
    'Whether the ssh runner refuses a host with an unknown key (`strict`) or stores the key (`accept-new`).',
  ),
  workdir: text('Folder in which commands start.'),
})

export const spreadSpec = spec('spread', {
  enabled: flag('Default true.'),
  batch: formed(
    'batch',
    'Items of a batch; `auto`, the default: many at first, few at the end. At most 2,000 batches.',
  ),
  workers: whole('Most batches at once; default: any number.', { min: 1, max: 10_000 }),
})

export const actionSpec = spec('action', {
  action: preferably(['log', 'export', 'notify', 'run', 'continue', 'abort'], 'The action.', 'wanted'),
  condition: expression(text('Expression; the action is executed only when it is true.')),
  message: template(text('Text for `log` and `notify`.')),
  name: text('Variable that `export` sets.'),
  value: template(text('Value for `export`.')),
  notify: template(text('Text for `notify`.')),
  type: preferably(['bash', 'function'], 'Type of `run`.'),
  command: shell(text('Command for `run`.')),
  functions: expression(texts('Expressions for `run`.')),
})

const branchFields = {
  goto: text('Name of the next step; `_end` ends the module.'),
  command: shell(text('Command to run first.')),
  commands: shell(texts('Commands to run first.')),
  function: expression(text('Expression to evaluate first.')),
  functions: expression(texts('Expressions to evaluate first.')),
}
export const branchSpec = spec('branch', branchFields)

export const decisionSpec = spec('decision', {
  switch: template(text('Template whose trimmed text selects a case.')),
  cases: map(() => branchSpec, 'Branches by text.'),
  default: object(() => branchSpec, 'Branch if no case matches.'),
  conditions: list(
    () => spec('condition', { if: expression(text('Expression.', true)), ...branchFields }),
    'Every branch whose `if` is true is executed; the last `goto` wins.',
  ),
})

export const retrySpec = spec('retry', {
  attempts: whole('Total number of attempts, including the first.', { min: 1 }, true),
  delay: formed('delay', 'Wait before the second attempt; default 1s.'),
  max_delay: formed('delay', 'Longest wait; default 60s.'),
  factor: number('Factor by which the wait grows with each attempt; default 2.'),
  exit_codes: numbers('Exit codes that are retried; default: every failure.'),
})

export const messageSpec = spec('message', {
  role: choice(['system', 'user', 'assistant', 'tool'], 'Author of the message.', true),
  content: template(json('Text, or a list of content parts.')),
  name: text('Name of the author.'),
  tool_call_id: text('Tool call to which a `tool` message responds.'),
})

export const llmConfigSpec = spec('llm_config', {
  provider: text('Name of a provider in the settings.'),
  base_url: text(
    'URL of an OpenAI-compatible endpoint. Only the endpoint of the settings gets the key of the settings.',
  ),
  api_key: text('Key for the endpoint, preferably from a param: `{{llm_key}}`.'),
  model: text('Model name.'),
  max_tokens: number('Maximum length of an answer, in tokens.'),
  temperature: number('Sampling temperature.'),
  top_k: number('Sampling top-k.'),
  top_p: number('Sampling top-p.'),
  n: number('Number of answers.'),
  timeout: formed('timeout', 'Time limit of an answer.'),
  max_retries: number('Attempts for each provider; default 3.'),
  stream: flag('Ask for a streamed answer.'),
  response_format: json('`response_format` of the request.'),
  custom_headers: textMap('Extra headers.'),
})

/** Variables of tool hooks. */
const CALL_NAMES = ['tool', 'args', 'tool_name', 'tool_args', 'result', 'error', 'iteration', 'duration']
const STOP_NAMES = ['content', 'iteration', 'agent_content']

export const agentToolSpec = spec('agent_tool', {
  preset: text('Name of a preset tool.'),
  name: text('Name of a tool that the workflow defines.'),
  description: text('What the tool does.'),
  parameters: json('JSON Schema of the arguments.'),
  handler: expression(text('Expression whose value is the result; the arguments are in `args`.'), 'args'),
})

const subAgentFields = {
  name: text('Name.', true),
  description: text('Tasks for which the agent is used.'),
  system_prompt: template(text('System prompt.')),
  agent_tools: list(() => agentToolSpec, 'Its tools.', 'preset'),
  max_iterations: number('Maximum number of rounds.'),
  models: texts('Models, tried in order.'),
  llm_config: object(() => llmConfigSpec, 'Model settings; they override those of the step.'),
  output_schema: json('JSON Schema that the answer is asked to follow.'),
  memory: object(() => memorySpec, 'Memory of the agent: `max_messages`.'),
  stop_condition: expression(text('Expression; the agent stops when it is true.'), ...STOP_NAMES),
  on_tool_start: expression(
    text('Expression evaluated before each tool call; default: that of the step.'),
    ...CALL_NAMES,
  ),
  on_tool_end: expression(
    text('Expression evaluated after each tool call; default: that of the step.'),
    ...CALL_NAMES,
  ),
}
export interface SubAgent extends ValueOf<typeof subAgentFields> {
  sub_agents?: SubAgent[]
}
const subAgentSpec: ObjectSpec<SubAgent> = spec('sub_agent', {
  ...subAgentFields,
  sub_agents: list(() => subAgentSpec, 'Agents that this agent may call.'),
})

const memorySpec = spec('memory', {
  max_messages: number('Maximum number of messages that are kept.'),
  summarize_on_truncate: flag('Summarise the messages that are dropped.'),
  persist_path: text('File to which the conversation is written.'),
  resume_path: text('File from which a conversation is read.'),
})

const relaxed = (spec: ObjectSpec, ...optional: string[]): ObjectSpec<Step> => ({
  name: spec.name,
  fields: Object.fromEntries(
    Object.entries(spec.fields).map(([key, field]) => [
      key,
      optional.includes(key) ? { ...field, required: false } : field,
    ]),
  ),
})

/** Nested steps and steps of inline modules need no name; hooks also need no type (bash). */
export const nestedStepSpec = (): ObjectSpec<Step> => relaxed(stepSpec, 'name')
export const hookStepSpec = (): ObjectSpec<Step> => relaxed(stepSpec, 'name', 'type')

const stepFields = {
  name: text('Name, unique in its module.', true),
  type: of<string>({
    kind: 'text',
    oneOf: [...STEP_TYPES, ...REFUSED_STEP_TYPES],
    unsupported: REFUSED_STEP_TYPES,
  })('What the step does.', true),
  description: text('For people.'),
  depends_on: texts(
    'Steps that must end before this one. If any step has this key, all steps of the list are a graph.',
  ),
  pre_condition: expression(text('Expression; the step is skipped when it is false.')),
  log: template(text('Log line that is written when the step starts.')),
  timeout: template(
    formed(
      'timeout',
      'Time limit in seconds, or as `30s`, `5m`, `1h30m`, `2d`: of each command, or of the whole step for other types.',
    ),
  ),
  retry: object(() => retrySpec, 'Retries of a failed step.', 'attempts'),
  exports: exported(textMap('Variables that the step sets when it succeeds.')),
  on_success: list(() => actionSpec, 'Actions after success.', 'action'),
  on_error: list(() => actionSpec, 'Actions after failure; `continue` starts the next step.', 'action'),
  decision: object(() => decisionSpec, 'Chooses the next step.'),
  suppress_details: flag('Do not record the command and its output.'),
  command: shell(text('One shell command.')),
  commands: shell(texts('Shell commands, one after the other; the first failure ends the step.')),
  parallel_commands: shell(texts('Shell commands that run in parallel; all of them run.')),
  std_file: template(text('File to which the output is written.')),
  speed_args: argument(text('Appended to `command`, first.')),
  config_args: argument(text('Appended to `command`, second.')),
  input_args: argument(text('Appended to `command`, third.')),
  output_args: argument(text('Appended to `command`, last.')),
  step_runner: choice(RUNNER_TYPES, 'Runner of a remote-bash step: docker or ssh.'),
  step_runner_config: template(object(() => runnerConfigSpec, 'Settings of `step_runner`.')),
  step_remote_file: template(text('File that is copied back after the commands.')),
  host_output_file: template(text('Destination of that file.')),
  function: expression(text('One expression.')),
  functions: expression(texts('Expressions, one after the other.')),
  parallel_functions: expression(texts('Expressions that are evaluated in parallel.')),
  parallel_steps: apart(list(nestedStepSpec, 'Steps that run in parallel.')),
  input: template(text('File with one item per line.')),
  variable: text('Name of the variable that holds the item.'),
  variable_pre_process: text('Expression that converts the item into the value of the variable.'),
  threads: template(
    formed(
      'count',
      'Most items that are processed in parallel; in a farm, as far as slots of the worker are free. Default: as many as are free; one in `scanfarm exec`, and in batches of `spread: true`.',
    ),
  ),
  spread: object(
    () => spreadSpec,
    'Whether other workers of the farm execute items too: `true`, or an object.',
    'enabled',
  ),
  step: apart(object(nestedStepSpec, 'The step that runs for each item.')),
  url: template(formed('url', 'URL of the request.')),
  method: template(formed('method', 'Default GET.')),
  headers: template(textMap('Request headers.')),
  request_body: template(text('Request body.')),
  messages: list(() => messageSpec, 'The conversation.'),
  tools: jsons('Tools that the model may call.'),
  tool_choice: json('Tool that the model should call.'),
  llm_config: object(() => llmConfigSpec, 'Model settings.'),
  is_embedding: flag('Ask for embeddings of `embedding_input`.'),
  embedding_input: template(texts('Texts to embed.')),
  extra_llm_parameters: jsonMap('Fields that are added to the request unchanged.'),
  stream: flag('Ask for a streamed answer.'),
  query: template(text('The goal of an agent.')),
  queries: template(texts('Several goals in one conversation.')),
  system_prompt: template(text('System prompt of an agent.')),
  agent_tools: list(() => agentToolSpec, 'Tools of an agent.', 'preset'),
  parallel_tool_calls: flag('Run the calls of one answer in parallel; default true.'),
  max_iterations: whole('Maximum number of rounds of an agent.', { min: 1 }),
  max_tokens: number('Maximum number of tokens of an agent in all rounds.'),
  stop_condition: expression(text('Expression; the agent stops when it is true.'), ...STOP_NAMES),
  memory: object(() => memorySpec, 'Memory of the agent.'),
  plan_prompt: template(text('Asks for a plan before the first round.')),
  plan_max_tokens: number('Maximum length of the plan, in tokens.'),
  models: texts('Models, tried in order.'),
  output_schema: json('JSON Schema that the final answer must follow.'),
  on_tool_start: expression(
    text('Expression evaluated before each tool call, with `tool_name`, `tool_args` and `iteration`.'),
    ...CALL_NAMES,
  ),
  on_tool_end: expression(
    text(
      'Expression evaluated after each tool call; it also has `result`, `error` and `duration` in milliseconds.',
    ),
    ...CALL_NAMES,
  ),
  sub_agents: list(() => subAgentSpec, 'Agents that the agent may call.'),
  max_agent_depth: number('Maximum depth of calls between agents; default 3.'),
}

export interface Step extends Having<'name' | 'type', typeof stepFields> {}

/** Keys of unsupported step types. They are known, so that the only message is that the type is not supported. */
const REFUSED_KEYS = ['agent', 'cwd', 'allowed_paths', 'acp_config', 'sdk_config']

export const stepSpec: ObjectSpec<Step> = {
  name: 'step',
  fields: {
    ...stepFields,
    ...Object.fromEntries(REFUSED_KEYS.map((key) => [key, json('Not supported.')])),
  },
}
