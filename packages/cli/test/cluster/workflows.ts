import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Modules of tests and benchmarks. Commands write traces to the folder that the param `folder` names. */
const MODULES: Readonly<Record<string, string>> = {
  /** One step that does nothing. */
  noop: `
steps:
  - name: nothing
    type: bash
    command: 'true'
`,
  /** One step that is skipped: the cost of a run without a process. */
  skip: `
steps:
  - name: nothing
    type: bash
    pre_condition: 'false'
    command: 'true'
`,
  /** A command, functions that send nothing, and steps whose records, conditions, exports or actions may hide what sends. */
  noted: `
steps:
  - {name: say, type: bash, command: 'echo {{Target}}'}
  - {name: note, type: function, function: 'log_info("said")'}
  - {name: quiet, type: function, suppress_details: true, function: 'log_info("said")'}
  - {name: long, type: function, functions: [${`'log_info("${'said '.repeat(5_000)}")', `.repeat(3)}]}
  - {name: ask, type: function, pre_condition: 'exec_cmd("echo")==""', function: 'log_info("said")'}
  - {name: told, type: function, function: 'log_info("said")', exports: {found: 'exec_cmd("echo")'}}
  - {name: gone, type: bash, pre_condition: 'exec_cmd("echo")!=""', command: 'echo {{Target}}'}
  - {name: pick, type: function, function: 'log_info("said")', decision: {conditions: [{if: 'exec_cmd("echo")'}]}}
  - {name: act, type: function, function: 'log_info("said")', on_success: [{action: run, command: 'echo sent'}]}
`,
  /** A loop of three items in two batches. */
  spread: `
steps:
  - {name: list, type: bash, command: 'seq 3 > {{Output}}/list'}
  - name: each
    type: foreach
    input: '{{Output}}/list'
    variable: item
    spread: {batch: 2}
    step: {name: one, type: bash, command: 'echo [[item]]'}
`,
  /** Two short steps. */
  brief: `
steps:
  - name: rest
    type: bash
    command: sleep 0.05
  - name: say
    type: bash
    command: echo {{Target}}
`,
  /** Like `brief`, but targets that the test holds add a line to `began` and wait for the file `open`. */
  held: `
steps:
  - name: rest
    type: bash
    command: |
      sleep 0.05
      if [ -e {{folder}}/hold-{{Target}} ]; then
        echo {{Target}} >> {{folder}}/began
        while [ ! -e {{folder}}/open ]; do sleep 0.2; done
      fi
  - name: say
    type: bash
    command: echo {{Target}}
`,
  /** Records its start and its end in nanoseconds. It ends soon after the file `open` appears. */
  stamp: `
steps:
  - name: stamp
    type: bash
    command: |
      date +%s%N > {{folder}}/{{Target}}.began
      while [ ! -e {{folder}}/open ]; do sleep 0.2; done
      sleep 0.1
      date +%s%N > {{folder}}/{{Target}}.ended
`,
  /** Prints the time in milliseconds every 50 ms, until the file `open` appears; then a line that is not UTF-8. */
  ticking: `
steps:
  - name: tick
    type: bash
    command: |
      echo {{Target}} >> {{folder}}/began
      while [ ! -e {{folder}}/open ]; do date +%s%3N; sleep 0.05; done
      printf '\\033[31m\\303\\251\\377\\033[0m the end\\n'
`,
  /** Prints the secret LIVE_SECRET and a character in two pieces each, a byte that is not UTF-8, and no line end. */
  pieces: `
steps:
  - name: say
    type: bash
    command: |
      printf 'token=%.6s' "$LIVE_SECRET"; sleep 0.7
      printf %s "$LIVE_SECRET" | tail -c +7; printf '; \\303'; sleep 0.7
      printf '\\251\\377'; sleep 0.7
      printf ' prompt> '
      while [ ! -e {{folder}}/open ]; do sleep 0.1; done
      printf 'the end'
`,
  /** Adds a line to `began` and waits for the file `open`. */
  gate: `
steps:
  - name: wait
    type: bash
    command: |
      echo {{Target}} >> {{folder}}/began
      while [ ! -e {{folder}}/open ]; do sleep 0.2; done
`,
  /** A process tree whose processes record their pids; two of them ignore TERM. */
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
  /** A loop of two items in two batches, whose processes record their pids. */
  waits: `
steps:
  - {name: list, type: bash, command: 'seq 2 > {{Output}}/list'}
  - name: each
    type: foreach
    input: '{{Output}}/list'
    variable: item
    spread: {batch: 1}
    step: {name: one, type: bash, command: 'echo $$ >> {{folder}}/{{Target}}.pids; exec sleep 600'}
`,
  /** Produces a report. */
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
  /** Prints each word of a param without a type. */
  words: `
params: [{name: text}]
steps:
  - {name: print, type: bash, command: "printf '[%s]' {{text}}"}
`,
  /** Writes to a named pipe. */
  ping: `
steps:
  - name: ping
    type: bash
    command: echo {{Target}} > {{folder}}/pipe
`,
}

const WORLD_READABLE = 0o755

/** Writes the modules to `folder`, in the structure of a workflows folder. */
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

/** Creates a folder to which commands of all users can write. */
export async function openFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: WORLD_READABLE })
  await chmod(path, OPEN_TO_ALL)
  return path
}
