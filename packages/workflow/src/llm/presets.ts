/** Tools that an agent may be given by name. */
export const AGENT_PRESETS: readonly string[] = [
  'bash', 'read_file', 'read_lines', 'file_exists', 'file_length', 'append_file', 'save_content', 'glob', 'grep_string',
  'grep_regex', 'http_get', 'http_request', 'jq', 'exec_python', 'exec_python_file', 'run_module', 'run_flow',
] // prettier-ignore
