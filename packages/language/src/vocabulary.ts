/** Functions that a param's `generator` may call. */
export const GENERATOR_NAMES = [
  'uuid', 'currentDate', 'currentTimestamp', 'getEnvVar', 'concat', 'randomInt', 'randomString', 'execCmd', 'toLower', 'toUpper',
  'trim', 'replace', 'split', 'join',
] as const // prettier-ignore

/** Types of target that are recognised by the text of the target. */
export const TEXT_TARGET_TYPES = [
  'domain', 'subdomain', 'url', 'cidr', 'ip', 'repo', 'number', 'string',
] as const // prettier-ignore

/** Types of target that a workflow may require. */
export const TARGET_TYPES = [...TEXT_TARGET_TYPES, 'path', 'file', 'folder'] as const

/** Preset tools of agents. */
export const AGENT_PRESETS: readonly string[] = [
  'bash', 'read_file', 'read_lines', 'file_exists', 'file_length', 'append_file', 'save_content', 'glob', 'grep_string',
  'grep_regex', 'http_get', 'http_request', 'jq', 'exec_python', 'exec_python_file', 'run_module', 'run_flow',
] // prettier-ignore
