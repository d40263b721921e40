import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Modules that tests and the bench run. `folder` is a param that names a folder where commands leave traces, so that a
 * test sees what really happened on the worker, whatever the records say.
 */
const MODULES: Readonly<Record<string, string>> = {
  /** One step that does nothing. */
  noop: `
steps:
  - name: nothing
    type: bash
    command: 'true'
`,
  /** One step that is never carried out: what a run costs without a process. */
  skip: `
steps:
  - name: nothing
    type: bash
    pre_condition: 'false'
    command: 'true'
`,
  /** Two steps that take a moment. */
  brief: `
steps:
  - name: rest
    type: bash
    command: sleep 0.05
  - name: say
    type: bash
    command: echo {{Target}}
`,
  /** The same, but targets that the test names wait for the file `open`, each with a line in `began`. */
  held: `
steps:
  - name: rest
    type: bash
    command: |
      sleep 0.05
      if [ -e {{folder}}/hold-{{Target}} ]; then
        echo {{Target}} >> {{folder}}/began
        while [ ! -e {{folder}}/open ]; do sleep 0.05; done
      fi
  - name: say
    type: bash
    command: echo {{Target}}
`,
  /** Writes down when it began and when it ended, in nanoseconds; ends a moment after the file `open` appears. */
  stamp: `
steps:
  - name: stamp
    type: bash
    command: |
      date +%s%N > {{folder}}/{{Target}}.began
      while [ ! -e {{folder}}/open ]; do sleep 0.05; done
      sleep 0.1
      date +%s%N > {{folder}}/{{Target}}.ended
`,
  /** Goes on until the file \`open\` appears; a line in \`began\` for every start. */
  gate: `
steps:
  - name: wait
    type: bash
    command: |
      echo {{Target}} >> {{folder}}/began
      while [ ! -e {{folder}}/open ]; do sleep 0.05; done
`,
  /** A tree of processes that write down their pids and ignore TERM where they can. */
  tree: `
steps:
  - name: grow
    type: bash
    command: |
      trap '' TERM
      echo $$ >> {{folder}}/{{Target}}.pids
      sh -c 'trap "" TERM; echo $$ >> "$0"; while :; do sleep 1; done' {{folder}}/{{Target}}.pids &
      setsid sh -c 'echo $$ >> "$0"; while :; do sleep 1; done' {{folder}}/{{Target}}.pids &
      while :; do sleep 1; done
`,
  /** Leaves a report. */
  report: `
steps:
  - name: write
    type: bash
    command: |
      mkdir -p {{Output}}
      echo found on {{Target}} > {{Output}}/report.md
reports:
  - name: report
    path: '{{Output}}/report.md'
    type: md
`,
  /** Has a param without a type, from a caller or an event, where two words would be a command. */
  waiting: `
params:
  - name: wait
triggers:
  - name: main
    on: event
    enabled: true
    event: {topic: custom.wait}
    input: {target: event_data.host, wait: event_data.wait}
steps:
  - name: wait
    type: bash
    command: wait={{wait}}; printf '[%s]' "$wait" {{wait}}
`,
  /** The same with a type. */
  counting: `
params:
  - {name: wait, type: int, min: 0}
triggers:
  - name: main
    on: event
    enabled: true
    event: {topic: custom.count}
    input: {target: event_data.host, wait: event_data.wait}
steps:
  - name: wait
    type: bash
    command: wait={{wait}}; echo "$wait"
`,
  /** Tells a named pipe that its process runs. */
  ping: `
steps:
  - name: ping
    type: bash
    command: echo {{Target}} > {{folder}}/pipe
`,
}

const WORLD_READABLE = 0o755

/** Writes the modules below \`folder\` as a workflows folder of the server. */
export async function writeWorkflows(folder: string): Promise<void> {
  const modules = join(folder, 'modules')
  await mkdir(modules, { recursive: true })
  for (const [name, steps] of Object.entries(MODULES)) {
    const params = steps.includes('{{folder}}') ? 'params:\n  - name: folder\n    required: true\n' : ''
    await writeFile(
      join(modules, `${name}.yaml`),
      `kind: module\nname: ${name}\n${params}${steps.trimStart()}`,
    )
  }
}

const OPEN_TO_ALL = 0o777

/** A folder that commands may write to whatever user they run as. */
export async function openFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: WORLD_READABLE })
  await chmod(path, OPEN_TO_ALL)
  return path
}
