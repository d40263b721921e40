import type { ShellNode } from './grammar.ts'
import { literalOf, marksIn, variablesIn } from './marks.ts'

/** Rounds until what flows from variable to variable is known; beyond it every value may be in every variable. */
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

/** Names that take what they get from somewhere else: `read x`, `printf -v x`, `mapfile x`. */
const filledIn = (node: ShellNode): string[] => {
  const own =
    node.type === 'command' && /^(?:read|mapfile|readarray|getopts|printf)\s/.test(node.text)
      ? node.children.slice(1).map(({ text }) => text)
      : []
  return [...own, ...node.children.flatMap(filledIn)]
}

/** Which values of a command may be in which of its variables, whatever the order in which it runs. */
export class Taint {
  readonly all: readonly number[]
  /** Numbers below zero for variables that come from outside of the command. */
  readonly outer: Map<string, number>
  /** Values of a standard input that `exec` opened for all that follows. */
  readonly opened = new Set<number>()
  /** Variables that are set once, to a text of the author. */
  readonly constants = new Map<string, string>()
  readonly #of = new Map<string, Set<number>>()

  constructor(all: readonly number[], outer = new Map<string, number>()) {
    this.all = all
    this.outer = outer
  }

  /** For a script in the command: it may have got every value as an argument. */
  inside(): Taint {
    const taint = new Taint(this.all, this.outer)
    for (const [name, values] of this.#of) taint.#of.set(name, new Set(values))
    for (const [name, text] of this.constants) taint.constants.set(name, text)
    taint.#of.set('1', new Set(this.all))
    return taint
  }

  learn(root: ShellNode): void {
    const assignments = assignmentsIn(root)
    for (const { name, from } of assignments) {
      const text = literalOf(from)
      const once = !this.#of.has(name) && assignments.filter((other) => other.name === name).length === 1
      if (once && text !== undefined && marksIn(text).length === 0) this.constants.set(name, text)
      else this.constants.delete(name)
    }
    for (const name of filledIn(root)) {
      this.#add(name, this.all)
      this.constants.delete(name)
    }
    if (/\bset\s|\(\)|\bfunction\b/.test(root.text)) this.#add('1', this.all)
    if (/\bexec\s+0?<(?!>)/.test(root.text)) for (const value of this.all) this.opened.add(value)
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

  /** Values that stand in a piece of the command, or come by its variables. */
  of(node: ShellNode): Set<number> {
    return new Set([...marksIn(node.text), ...this.ofVariables(node)])
  }

  ofVariables(node: ShellNode): Set<number> {
    return new Set(variablesIn(node).flatMap((name) => [...(this.#of.get(name) ?? this.#outside(name))]))
  }

  #outside(name: string): number[] {
    if (name === '1') return []
    const number = this.outer.get(name) ?? -1 - this.outer.size
    this.outer.set(name, number)
    return [number]
  }
}
