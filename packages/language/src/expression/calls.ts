import type { AnyNode, CallExpression } from 'acorn'
import type { FunctionTable } from '../function-table.ts'
import { nodesIn, syntaxOf } from './syntax.ts'

/** Built-in functions of JavaScript that produce a value. */
const OF_SCRIPT =
  /(?<![\w.])(?:(?:Math|JSON|Object|Array|Number|String|Date)\.\w+|Number|String|Boolean|parseInt|parseFloat|isNaN|encodeURIComponent|decodeURIComponent)\(/

/** Whether an export is an expression: it is if it calls a known function. Any other text is a literal. */
export const looksLikeCall = (text: string, functions: FunctionTable): boolean =>
  OF_SCRIPT.test(text) ||
  [...text.matchAll(/(?<!\w)([A-Za-z_]\w*)\s*\(/g)].some(([, name = '']) => functions.has(name))

/** A call: the name of the function directly before its parenthesis. */
const isCall = (node: AnyNode, text: string): node is CallExpression =>
  node.type === 'CallExpression' &&
  node.callee.type === 'Identifier' &&
  text.slice(node.callee.end).startsWith('(')

/**
 * The name of an unknown function that an export calls: the text is an expression, but `looksLikeCall` takes it for a
 * literal. Text like `Mozilla (X11)` calls nothing.
 */
export const unknownCall = (text: string, functions: FunctionTable): string | undefined => {
  if (!/\w\(/.test(text) || looksLikeCall(text, functions)) return undefined
  const source = text.replaceAll(/\{\{.*?\}\}/gs, '0')
  const tree = syntaxOf(source)
  if (tree === undefined) return undefined
  for (const node of nodesIn(tree))
    if (isCall(node, source) && node.callee.type === 'Identifier') return node.callee.name
  return undefined
}

/** Functions that run a text in a shell, by all their names, with the position of that argument. */
export const SHELL_COMMANDS: ReadonlyMap<string, number> = new Map([
  ...['exec_cmd', 'execCmd', 'bash', 'tmux_run', 'tmuxRun'].map((name): [string, number] => [name, 0]),
  ...['ssh_exec', 'sshExec'].map((name): [string, number] => [name, 1]),
])
