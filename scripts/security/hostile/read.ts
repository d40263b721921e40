import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const read = (name: string): unknown => parse(readFileSync(join(import.meta.dirname, name), 'utf8'))

/** A value that an attacker may choose; its name describes the attack. */
export interface HostileValue {
  readonly name: string
  readonly value: string
}

/** The values of values.yaml with a command that creates the file `canary`, and long ones. */
export const hostileValues = (canary: string): HostileValue[] => {
  const run = `touch ${canary} CANARY`
  const values = Object.entries(read('values.yaml') as Record<string, string>).map(([name, text]) => ({
    name,
    value: text
      .replaceAll('«run»', run)
      .replaceAll('«path»', canary)
      .replaceAll('«slashed»', run.replaceAll('/', '\\/')),
  }))
  return [
    ...values,
    { name: 'many quotes', value: `'"`.repeat(300) },
    { name: 'a long word', value: 'A'.repeat(3_000) },
  ]
}

/** A position in a workflow that contains a value, and the expected output. */
export interface Position {
  readonly name: string
  readonly step: Readonly<Record<string, unknown>>
  /** The expected bytes of the output. Missing: another interpreter reads the value, and only canaries are checked. */
  readonly expected?: (value: string) => string
}

type Texts = Readonly<Record<string, string>>
type Steps = readonly ({ readonly name: string; readonly is?: string } & Readonly<Record<string, unknown>>)[]

interface Positions {
  readonly whole: Texts
  readonly interpreters: Texts
  readonly hostInterpreters: Texts
  readonly forwarding: Steps
  readonly hostForwarding: Steps
}

/** The output of a tool loses blanks at its end. */
const same = (value: string): string => value.trimEnd()

const stepOf = (fields: Readonly<Record<string, unknown>>): Position['step'] => ({
  type: 'bash',
  timeout: '30s',
  on_error: [{ action: 'continue' }],
  ...fields,
})

/** The positions of positions.yaml for the variable `v`. */
export function positionsOf(v: string): Record<keyof Positions, Position[]> {
  const filled = JSON.stringify(read('positions.yaml'))
    .replaceAll('VALUE', `{{${v}}}`)
    .replaceAll('HEX', 'od -An -v -tx1')
  const { whole, interpreters, hostInterpreters, forwarding, hostForwarding } = JSON.parse(
    filled,
  ) as Positions
  const named = (texts: Texts, expected?: Position['expected']): Position[] =>
    Object.entries(texts).map(([place, command]) => {
      const name = `${v} ${place}`
      return { name, step: stepOf({ name, command }), ...(expected ? { expected } : {}) }
    })
  const steps = (list: Steps): Position[] =>
    list.map(({ is, ...fields }) => ({
      name: fields.name,
      step: stepOf(fields),
      ...(is ? { expected: same } : {}),
    }))
  return {
    whole: named(whole, same),
    interpreters: named(interpreters),
    hostInterpreters: named(hostInterpreters),
    forwarding: steps(forwarding),
    hostForwarding: steps(hostForwarding),
  }
}

/** A tool whose output an attacker controls. */
export const TOOL: Position = {
  name: 'tool',
  step: stepOf({
    name: 'tool',
    command: 'printf %s "{{encoded}}" | base64 -d > {{Output}}/out.txt; cat {{Output}}/out.txt',
    exports: { seen: 'stdout', read: 'read_file("{{Output}}/out.txt")' },
  }),
}

/** The last step: it finds files that only a second command can have created. */
export const SEARCH: Position = {
  name: 'search',
  step: stepOf({ name: 'search', command: 'find . "{{Output}}" -name CANARY' }),
}
