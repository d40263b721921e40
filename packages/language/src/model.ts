import type { RunnerType, WorkflowKind } from '@scanfarm/contracts'

/** A workflow file after reading: plain JSON with the field names of the language. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export const PARAM_TYPES = ['string', 'int', 'bool', 'choice', 'path', 'args'] as const
export type ParamType = (typeof PARAM_TYPES)[number]

export interface Param {
  name: string
  type?: ParamType
  /** Of an `int`. */
  min?: number
  max?: number
  /** Of a `choice`. */
  choices?: string[]
  /** Several choices, separated by commas. */
  multiple?: boolean
  default?: Json
  value?: Json
  required?: boolean
  generator?: string
  /** Whether the param is part of the scope of a scan, and not only of its speed. */
  scope?: boolean
  description?: string
}

export interface Dependencies {
  commands?: string[]
  files?: string[]
  variables?: { name?: string; type?: string; required?: boolean }[]
  target_types?: string[]
  functions_conditions?: string[]
}

export interface Trigger {
  name?: string
  on?: 'cron' | 'event' | 'watch' | 'manual'
  enabled?: boolean
  schedule?: string
  timezone?: string
  missed?: 'skip' | 'once' | 'all'
  missed_window?: string
  jitter?: string
  overlap?: 'allow' | 'skip' | 'queue' | 'cancel-previous'
  run_mode?: 'local' | 'distributed'
  event?: {
    topic?: string
    filters?: string[]
    filter_functions?: string[]
    dedupe_key?: string
    dedupe_window?: string
  }
  path?: string
  debounce?: string
  input?: { [key: string]: Json }
}

export interface Report {
  name?: string
  path?: string
  type?: string
  description?: string
  optional?: boolean
}

export interface Preferences {
  disable_notifications?: boolean
  disable_logging?: boolean
  heuristics_check?: 'none' | 'basic' | 'advanced'
  ci_output_format?: boolean
  silent?: boolean
  repeat?: boolean
  repeat_wait_time?: string
  empty_target?: boolean
}

export interface RunnerConfig {
  image?: string
  env?: Record<string, string>
  volumes?: string[]
  network?: string
  persistent?: boolean
  host?: string
  port?: number
  user?: string
  key_file?: string
  password?: string
  /** `user@host:port` of a jump host. */
  jump?: string
  known_hosts?: string
  host_keys?: 'strict' | 'accept-new'
  workdir?: string
}

export interface Action {
  action?: 'log' | 'export' | 'notify' | 'run' | 'continue' | 'abort'
  condition?: string
  message?: string
  name?: string
  value?: string
  notify?: string
  type?: 'bash' | 'function'
  command?: string
  functions?: string[]
}

export interface Branch {
  goto?: string
  command?: string
  commands?: string[]
  function?: string
  functions?: string[]
}

export interface Decision {
  switch?: string
  cases?: Record<string, Branch>
  default?: Branch
  conditions?: (Branch & { if?: string })[]
}

export interface Spread {
  enabled?: boolean
  /** A number of items, or `auto`. */
  batch?: string
  workers?: number
}

export interface Retry {
  /** Total number of attempts, including the first. */
  attempts?: number
  delay?: string
  max_delay?: string
  factor?: number
  exit_codes?: number[]
}

export interface LlmMessage {
  role?: string
  content?: Json
  name?: string
  tool_call_id?: string
}

export interface LlmConfig {
  provider?: string
  base_url?: string
  api_key?: string
  model?: string
  max_tokens?: number
  temperature?: number
  top_k?: number
  top_p?: number
  n?: number
  timeout?: string
  max_retries?: number
  stream?: boolean
  response_format?: Json
  custom_headers?: Record<string, string>
}

export interface AgentTool {
  preset?: string
  name?: string
  description?: string
  parameters?: Json
  handler?: string
}

export interface SubAgent {
  name?: string
  description?: string
  system_prompt?: string
  agent_tools?: AgentTool[]
  max_iterations?: number
  models?: string[]
  llm_config?: LlmConfig
  output_schema?: Json
  memory?: Step['memory']
  stop_condition?: string
  on_tool_start?: string
  on_tool_end?: string
  sub_agents?: SubAgent[]
}

export interface Step {
  name: string
  type: string
  description?: string
  depends_on?: string[]
  pre_condition?: string
  log?: string
  timeout?: string
  retry?: Retry
  exports?: Record<string, string>
  on_success?: Action[]
  on_error?: Action[]
  decision?: Decision
  suppress_details?: boolean
  command?: string
  commands?: string[]
  parallel_commands?: string[]
  std_file?: string
  speed_args?: string
  config_args?: string
  input_args?: string
  output_args?: string
  step_runner?: RunnerType
  step_runner_config?: RunnerConfig
  step_remote_file?: string
  host_output_file?: string
  function?: string
  functions?: string[]
  parallel_functions?: string[]
  parallel_steps?: Step[]
  input?: string
  variable?: string
  variable_pre_process?: string
  threads?: string
  spread?: Spread
  step?: Step
  url?: string
  method?: string
  headers?: Record<string, string>
  request_body?: string
  messages?: LlmMessage[]
  tools?: Json[]
  tool_choice?: Json
  llm_config?: LlmConfig
  is_embedding?: boolean
  embedding_input?: string[]
  extra_llm_parameters?: { [key: string]: Json }
  stream?: boolean
  query?: string
  queries?: string[]
  system_prompt?: string
  agent_tools?: AgentTool[]
  parallel_tool_calls?: boolean
  max_iterations?: number
  max_tokens?: number
  stop_condition?: string
  memory?: {
    max_messages?: number
    summarize_on_truncate?: boolean
    persist_path?: string
    resume_path?: string
  }
  plan_prompt?: string
  plan_max_tokens?: number
  models?: string[]
  output_schema?: Json
  on_tool_start?: string
  on_tool_end?: string
  sub_agents?: SubAgent[]
  max_agent_depth?: number
}

export interface ModuleRef {
  name: string
  path?: string
  params?: Record<string, string>
  depends_on?: string[]
  condition?: string
  on_success?: Action[]
  on_error?: Action[]
  decision?: Decision
  steps?: Step[]
  runner?: RunnerType
  runner_config?: RunnerConfig
  description?: string
  inline_path?: string
  exports?: Record<string, string>
}

export interface Hooks {
  pre_scan_steps?: Step[]
  post_scan_steps?: Step[]
}

interface ListOverride<Item> {
  mode?: 'replace' | 'prepend' | 'append' | 'merge'
  replace?: Item[]
  remove?: string[]
}

export interface Override {
  params?: { [name: string]: Json }
  steps?: ListOverride<Step> & { steps?: Step[] }
  modules?: ListOverride<ModuleRef> & { modules?: ModuleRef[] }
  triggers?: Trigger[]
  dependencies?: Dependencies
  on_partial?: OnPartial
  preferences?: Preferences
  runner?: RunnerType
  runner_config?: RunnerConfig
}

/** The status of a run that completes with an outcome other than clean. */
export const ON_PARTIAL = ['complete', 'fail'] as const
export type OnPartial = (typeof ON_PARTIAL)[number]

/** What another attempt of a run executes again. */
export const RESUME = ['steps', 'none'] as const

export interface Workflow {
  kind: WorkflowKind
  name: string
  description?: string
  tags?: string[]
  hidden?: boolean
  help?: { example_targets?: string[]; usage?: string }
  params?: Param[]
  dependencies?: Dependencies
  triggers?: Trigger[]
  reports?: Report[]
  on_partial?: OnPartial
  resume?: (typeof RESUME)[number]
  preferences?: Preferences
  hooks?: Hooks
  runner?: RunnerType
  runner_config?: RunnerConfig
  steps?: Step[]
  modules?: ModuleRef[]
  extends?: string
  override?: Override
}
