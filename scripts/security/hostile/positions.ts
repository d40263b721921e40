/** A position in a workflow that contains a value, and the expected output. */
export interface Position {
  readonly name: string
  readonly step: Readonly<Record<string, unknown>>
  /** The expected bytes of the output. Missing: another interpreter reads the value, and only canaries are checked. */
  readonly expected?: (value: string) => string
}

const CONTINUE = [{ action: 'continue' }]
const HEX = 'od -An -v -tx1'

const command = (name: string, text: string): Position['step'] => ({
  name,
  type: 'bash',
  command: text,
  timeout: '30s',
  on_error: CONTINUE,
})

/** The output of a tool loses blanks at its end. */
const same = (value: string): string => value.trimEnd()

/** Positions whose output must be the value of the variable `v`. */
export const wholePositions = (v: string): Position[] => {
  const at = (name: string, text: string, expected: Position['expected'] = same): Position => ({
    name: `${v} ${name}`,
    step: command(`${v} ${name}`, text.replaceAll('VALUE', `{{${v}}}`)),
    expected,
  })
  return [
    at('bare', `printf %s VALUE | ${HEX}`),
    at('in double quotes', `printf %s "VALUE" | ${HEX}`),
    at('in single quotes', `printf %s 'VALUE' | ${HEX}`),
    at('inside a word', `printf %s a"VALUE"b | ${HEX}`, (value) =>
      v === 'seen' ? `a${value.trimEnd()}b` : `a${value}b`,
    ),
    at('in a substitution', `x=$(printf %s "VALUE"; printf .); printf %s "\${x%.}" | ${HEX}`),
    at('in backquotes', `x=\`printf %s "VALUE"; printf .\`; printf %s "\${x%.}" | ${HEX}`),
    at('in an assignment', `x="VALUE"; printf %s "$x" | ${HEX}`),
    at('as a default', `printf %s "\${nothing:-VALUE}" | ${HEX}`),
    at('in a here-document', `cat <<END | ${HEX}\nVALUE\nEND`, (value) => `${value}\n`),
    at('as an argument of a shell', `sh -c 'printf %s "$1"' sh "VALUE" | ${HEX}`),
    at('in the environment', `V="VALUE" sh -c 'printf %s "$V"' | ${HEX}`),
    at(
      'in a condition',
      `if [ "x$(printf %s "VALUE" | wc -c)" = x ]; then :; fi; printf ok | ${HEX}`,
      () => 'ok',
    ),
    at('in a case', `case "VALUE" in nothing) ;; esac; printf ok | ${HEX}`, () => 'ok'),
  ]
}

/** Positions that another interpreter reads. None may execute the value. */
export const interpreterPositions = (v: string): Position[] => {
  const texts: Record<string, string> = {
    'in sh -c': 'sh -c "echo VALUE"',
    'in sh -c between quotes': `sh -c "echo 'VALUE'"`,
    'in eval': 'eval "echo VALUE"',
    'in a pipe to a shell': 'echo "VALUE" | sh',
    'in a here-document of a shell': 'sh <<END\necho VALUE\nEND',
    'as a script of sh -s': 'printf "%s\\n" "echo VALUE" | sh -s',
    'in a shell by env': 'env A=1 sh -c "echo VALUE"',
    'in xargs': 'echo "VALUE" | xargs sh -c',
    'in a replacement of xargs': `printf '%s' "VALUE" | xargs -I@ sh -c "echo @"`,
    'in find -exec': 'find . -maxdepth 0 -exec sh -c "echo VALUE" \\;',
    'in arithmetic': 'echo $((VALUE))',
    'in jq': 'jq -n "\\"VALUE\\""',
    'in a comment': 'true # VALUE',
    'in a command position': 'VALUE',
    'behind an assignment': 'wait=VALUE',
    'in a loop': 'for i in VALUE; do echo "$i"; done',
    'in awk': `awk 'BEGIN { print "VALUE" }'`,
    'in sed': 'echo x | sed "s/x/VALUE/"',
    'in a nested shell': `sh -c "sh -c 'echo VALUE'"`,
  }
  return Object.entries(texts).map(([name, text]) => ({
    name: `${v} ${name}`,
    step: command(`${v} ${name}`, text.replaceAll('VALUE', `{{${v}}}`)),
  }))
}

/** Interpreters that only the host has. */
export const hostInterpreterPositions = (v: string): Position[] =>
  Object.entries({
    'in bash -s': 'bash -s "VALUE" <<< "echo \\$1"',
    'in bash -c': 'bash -c "echo VALUE"',
    'in a here-string': `bash -c 'bash <<< "echo VALUE"'`,
    'in perl': `perl -e 'print "VALUE"'`,
    'in python': `python3 -c 'print("VALUE")'`,
    'in node': `node -e 'console.log("VALUE")'`,
    'in timeout': 'timeout 5 sh -c "echo VALUE"',
    'in nohup': 'nohup sh -c "echo VALUE"',
    'in setsid': 'setsid sh -c "echo VALUE"',
    'in flock': 'flock /dev/null sh -c "echo VALUE"',
  }).map(([name, text]) => ({
    name: `${v} ${name}`,
    step: command(`${v} ${name}`, text.replaceAll('VALUE', `{{${v}}}`)),
  }))

/** A tool whose output an attacker controls. */
export const TOOL: Position = {
  name: 'tool',
  step: {
    ...command('tool', 'printf %s "{{encoded}}" | base64 -d > {{Output}}/out.txt; cat {{Output}}/out.txt'),
    exports: { seen: 'stdout', read: 'read_file("{{Output}}/out.txt")' },
  },
}

/** Steps that pass the value to other kinds of commands, to functions and to files. */
export const forwardingPositions = (v: string): Position[] => [
  {
    name: 'kept',
    step: command('kept', `printf '%s\\n' "{{${v}}}" > {{Output}}/kept.txt`),
  },
  {
    name: 'commands',
    step: {
      name: 'commands',
      type: 'bash',
      commands: [`printf %s "{{${v}}}" | ${HEX}`],
      on_error: CONTINUE,
    },
    expected: same,
  },
  {
    name: 'parallel commands',
    step: {
      name: 'parallel commands',
      type: 'bash',
      parallel_commands: [`printf %s {{${v}}} | ${HEX}`],
      on_error: CONTINUE,
    },
    expected: same,
  },
  {
    name: 'arguments',
    step: {
      name: 'arguments',
      type: 'bash',
      command: 'printf %s',
      input_args: `"{{${v}}}"`,
      output_args: `| ${HEX}`,
      on_error: CONTINUE,
    },
    expected: same,
  },
  {
    name: 'saved by a function',
    step: {
      name: 'saved by a function',
      type: 'function',
      function: `save_content("{{${v}}}", "{{Output}}/saved.txt")`,
      on_error: CONTINUE,
    },
  },
  { name: 'shown', step: command('shown', `${HEX} < {{Output}}/saved.txt`), expected: same },
  {
    name: 'loop',
    step: {
      name: 'loop',
      type: 'foreach',
      input: '{{Output}}/kept.txt',
      variable: 'item',
      threads: '2',
      step: command('each', `printf '%s\\n' {{item}} "[[item]]" >> {{Output}}/items.txt`),
      on_error: CONTINUE,
    },
  },
]

export const hostForwardingPositions = (v: string): Position[] => [
  {
    name: 'exec_cmd',
    step: {
      name: 'exec_cmd',
      type: 'function',
      function: `exec_cmd("printf %s {{${v}}} | ${HEX}")`,
      on_error: CONTINUE,
    },
    expected: same,
  },
]

/** The last step: it finds files that only a second command can have created. */
export const SEARCH: Position = {
  name: 'search',
  step: command('search', `find . "{{Output}}" -name CANARY`),
}
