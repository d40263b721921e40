import { workflowJsonSchema } from '@scanfarm/language'

type StepOf = (path: string) => object

/** Every field of a step that may name a file, with a step that has the path there; nothing: it names none here. */
export const STEP_FIELDS: Readonly<Record<string, StepOf | undefined>> = {
  std_file: (path) => ({ type: 'bash', command: 'echo x', std_file: path }),
  input: (path) => ({
    type: 'foreach',
    input: path,
    variable: 'x',
    step: { name: 'b', type: 'bash', command: 'echo "{{x}}"' },
  }),
  streaming_output: (path) => ({
    type: 'foreach',
    input: 'mine',
    variable: 'x',
    step: { name: 'b', type: 'bash', command: 'echo y' },
    exports: { streaming_output: path },
  }),
  host_output_file: (path) => ({
    type: 'remote-bash',
    step_runner: 'docker',
    step_runner_config: { image: 'x' },
    command: 'true',
    step_remote_file: '/dev/null',
    host_output_file: path,
  }),
  resume_path: (path) => ({ ...AGENT, memory: { resume_path: path } }),
  persist_path: (path) => ({ ...AGENT, memory: { persist_path: path } }),
  key_file: (path) => ({
    type: 'remote-bash',
    step_runner: 'ssh',
    step_runner_config: { host: 'x', key_file: `{{Output}}/..${path.slice(path.lastIndexOf('/foreign'))}` },
    command: 'true',
  }),
  known_hosts: (path) => ({
    type: 'remote-bash',
    step_runner: 'ssh',
    step_runner_config: {
      host: 'x',
      known_hosts: `{{Output}}/..${path.slice(path.lastIndexOf('/foreign'))}`,
    },
    command: 'true',
  }),
  // Places where commands run, and what the farm reads before a run.
  step_remote_file: undefined,
  workdir: undefined,
  commands: undefined,
  disable_logging: undefined,
  type: undefined,
  extends: undefined,
  // Tested by themselves: what is wrong with them is logged.
  files: undefined,
  reports: undefined,
  path: undefined,
  // Functions of triggers are tested with these.
  filter_functions: undefined,
}

const AGENT = { type: 'agent', query: 'q', agent_tools: [{ preset: 'bash' }] }

/** Names of all fields of the language whose description says that they name files. */
export const fileFields = (): string[] => {
  const found = new Set<string>()
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const properties: unknown = 'properties' in value ? value.properties : undefined
    for (const [name, property] of Object.entries(properties ?? {}))
      if (/\b(files?|folder|path)\b/i.test(JSON.stringify(property))) found.add(name)
    for (const inner of Object.values(value)) search(inner)
  }
  search(workflowJsonSchema())
  return [...found]
}
