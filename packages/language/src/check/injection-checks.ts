import type { AnyNode } from 'acorn'
import { SHELL_COMMANDS } from '../expression/calls.ts'
import { argumentOf } from '../expression/joined.ts'
import { holeAt, nodesIn } from '../expression/syntax.ts'

/** Functions whose first argument is a program. */
const PROGRAMS: ReadonlySet<string> = new Set(['exec_python', 'execPython', 'exec_ts', 'execTs'])

export interface InjectedCode {
  readonly name: string
  /** The text is run by a shell, otherwise by an interpreter of another language. */
  readonly toShell: boolean
}

/** Holes of a command, which are escaped for their quoting contexts. */
const isEscaped = (node: AnyNode): boolean => holeAt(node)?.kind === '$shell'

const joins = (node: AnyNode): boolean =>
  (node.type === 'BinaryExpression' && node.operator === '+') ||
  (node.type === 'TemplateLiteral' && node.expressions.some((expr) => !isEscaped(expr)))

const isValue = (node: AnyNode): boolean => node.type === 'Identifier' && node.name !== '$shell'

/**
 * The first call in a prepared program that passes a text joined with values to a shell or an interpreter, where they
 * become code. In a command, `{{x}}` is escaped for its quoting context, but values that the program joins are not.
 */
export const injectedCode = (program: readonly AnyNode[]): InjectedCode | undefined => {
  for (const node of program) {
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') continue
    const { name } = node.callee
    const position = PROGRAMS.has(name) ? 0 : SHELL_COMMANDS.get(name)
    const argument = position === undefined ? undefined : argumentOf(node.arguments, position)
    if (argument === undefined) continue
    const nodes = nodesIn(argument)
    if (nodes.some(joins) && nodes.some(isValue)) return { name, toShell: !PROGRAMS.has(name) }
  }
  return undefined
}
