import type { ShellNode } from './grammar.ts'
import { literalOf, placeholdersIn, variablesIn } from './placeholders.ts'

/** Maximum number of passes over the assignments; after that, every value may be in every variable. */
const MAX_ROUNDS = 20

interface Assignment {
  readonly name: string
  readonly from: ShellNode
}

const firstName = (node: ShellNode): string => /^[A-Za-z_]\w*/.exec(node.text)?.[0] ?? ''

const assignmentsIn = (node: ShellNode): Assignment[] => {
  const own: Assignment[] = []
  if (node.type === 'variable_assignment' || node.type === 'for_statement') {
    const name = node.type === 'for_statement' ? (node.children[0]?.text ?? '') : firstName(node)
    const values =
      node.type === 'for_statement'
        ? node.children.slice(1).filter(({ type }) => type !== 'do_group')
        : node.children.slice(1)
    own.push(...values.map((from) => ({ name, from })))
  }
  return [...own, ...node.children.flatMap(assignmentsIn)]
}

/** Represents all values: a source is read whose content is unknown. */
export const ANY = Infinity

/** The words of a command from its name on, without `builtin` and `command`. */
const wordsOf = (node: ShellNode): readonly ShellNode[] => {
  const words = node.children.filter(({ type }) => type !== 'variable_assignment')
  const at = words.findIndex(({ text }) => !/^(?:builtin|command)$/.test(text))
  return at === -1 ? [] : words.slice(at)
}

/** Variables that a command fills: `read x`, `printf -v x`, `mapfile x`, `for x; do`. */
const filledIn = (node: ShellNode): string[] => {
  const inner = node.children.flatMap(filledIn)
  if (node.type === 'for_statement' && node.children.length === 2)
    return [node.children[0]?.text ?? '', ...inner]
  if (node.type !== 'command') return inner
  const [name, ...words] = wordsOf(node)
  if (!/^(?:read|mapfile|readarray|getopts|printf)$/.test(name?.text ?? '')) return inner
  return [...words.map(({ text }) => text), ...inner]
}

const functionsIn = (node: ShellNode): string[] => [
  ...(node.type === 'function_definition' ? [node.children[0]?.text ?? ''] : []),
  ...node.children.flatMap(functionsIn),
]

/** Variables that the shell sets from input, matches or arguments. */
const FILLED_BY_SHELL = /^(?:_|REPLY|MAPFILE|OPTARG|BASH_(?:REMATCH|COMMAND|ARGV))$/

/** Programs that print their input, and the number of operands before file names. */
const READERS: ReadonlyMap<string, number> = new Map([
  ['cat', 0], ['tac', 0], ['head', 0], ['tail', 0], ['sort', 0], ['uniq', 0], ['rev', 0], ['tee', 0], ['xargs', 9], ['dd', 9], ['envsubst', 9],
  ['sed', 1], ['awk', 1], ['grep', 1], ['jq', 1], ['cut', 1], ['tr', 9], ['base64', 0], ['read', 9], ['printenv', 9],
]) // prettier-ignore

/** Whether a substitution prints its standard input, so that its text does not show which values it has. */
const passesOn = (node: ShellNode, fed = false): boolean => {
  if (node.type === 'command' && !fed) {
    const [name, ...words] = wordsOf(node)
    const operands = words.filter(({ text, type }) => !/^-./.test(text) && !type.endsWith('redirect'))
    const isFed = words.some(({ type, text }) => type.endsWith('redirect') && /^\d*</.test(text))
    const first = READERS.get(name?.text ?? '')
    if (
      first !== undefined &&
      !isFed &&
      (operands.length <= first || operands.some(({ text }) => text === '-'))
    )
      return true
  }
  const opened =
    fed ||
    (node.type === 'redirected_statement' &&
      / *<|<</.test(
        node.children
          .slice(1)
          .map(({ text }) => text)
          .join(' '),
      ))
  return node.children.some((child, index) =>
    passesOn(child, opened || (node.type === 'pipeline' && index > 0)),
  )
}

/** Tracks which values may be in which variables of a command, independent of the order of execution. */
export class Taint {
  readonly all: readonly number[]
  /** Negative numbers for variables from the environment. */
  readonly outer: Map<string, number>
  /** Values of a standard input that `exec` opened for the following commands. */
  readonly opened = new Set<number>()
  /** Variables that are set once, to a text by the author. */
  readonly constants = new Map<string, string>()
  readonly #of = new Map<string, Set<number>>()
  readonly #sources = new Map<string, ShellNode[]>()
  readonly #functions = new Set<string>()

  constructor(all: readonly number[], outer = new Map<string, number>()) {
    this.all = all
    this.outer = outer
  }

  /** Taint of a nested script: every value may be one of its arguments. */
  inside(): Taint {
    const taint = new Taint(this.all, this.outer)
    for (const [name, values] of this.#of) taint.#of.set(name, new Set(values))
    for (const [name, text] of this.constants) taint.constants.set(name, text)
    for (const [name, nodes] of this.#sources) taint.#sources.set(name, nodes)
    for (const name of this.#functions) taint.#functions.add(name)
    taint.#of.set('1', new Set(this.all))
    return taint
  }

  learn(root: ShellNode): void {
    const assignments = assignmentsIn(root)
    for (const name of functionsIn(root)) this.#functions.add(name)
    for (const { name, from } of assignments) {
      this.#sources.set(name, [...(this.#sources.get(name) ?? []), from])
      const text = literalOf(from)
      const once = !this.#of.has(name) && assignments.filter((other) => other.name === name).length === 1
      if (once && text !== undefined && placeholdersIn(text).length === 0) this.constants.set(name, text)
      else this.constants.delete(name)
    }
    for (const name of filledIn(root)) {
      this.#add(name, this.all)
      this.constants.delete(name)
    }
    if (/\bset\s|\(\)|\bfunction\b/.test(root.text)) this.#add('1', this.all)
    if (/\bexec\s+(?:\d*|\{\w+\})<(?!>)/.test(root.text)) for (const value of this.all) this.opened.add(value)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let changed = false
      for (const { name, from } of assignments) changed = this.#add(name, this.of(from)) || changed
      if (!changed) return
    }
    for (const { name } of assignments) this.#add(name, this.all)
  }

  #add(name: string, values: Iterable<number>): boolean {
    const known = this.#of.get(name) ?? new Set()
    const before = known.size
    for (const value of values) known.add(value)
    this.#of.set(name, known)
    return known.size > before
  }

  /** Values in a node of the command, directly or through variables. */
  of(node: ShellNode): Set<number> {
    const found = new Set([...placeholdersIn(node.text), ...this.ofVariables(node)])
    if (this.#mayPrintAny(node)) found.add(ANY)
    return found
  }

  /** Nodes that a variable was set to. */
  sourcesOf(name: string): readonly ShellNode[] {
    return this.#sources.get(name) ?? []
  }

  #mayPrintAny(node: ShellNode): boolean {
    if (node.type === 'expansion' && node.text.startsWith('${!')) return true
    if (/^(?:command|process)_substitution$/.test(node.type) && passesOn(node)) return true
    if (node.type === 'command' && this.#functions.has(wordsOf(node)[0]?.text ?? '')) return true
    return node.children.some((child) => this.#mayPrintAny(child))
  }

  ofVariables(node: ShellNode): Set<number> {
    return new Set(variablesIn(node).flatMap((name) => [...(this.#of.get(name) ?? this.#outside(name))]))
  }

  #outside(name: string): number[] {
    if (name === '1') return []
    if (FILLED_BY_SHELL.test(name)) return [ANY]
    const number = this.outer.get(name) ?? -1 - this.outer.size
    this.outer.set(name, number)
    return [number]
  }
}
