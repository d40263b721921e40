import type { AnyNode } from 'acorn'
import type { Json } from '../model.ts'
import { applied, type Edit } from './edits.ts'

/**
 * Texts that name a boolean. Params without a type, exports and outputs are texts, so `flag == "true"`, `flag == true`
 * and `!flag` all have to work for them. QuickJS has the same two rules as `$is` and `$equals`.
 */
const NAMED: ReadonlySet<string> = new Set(['true', 'false'])

/** The value whose truth decides: the text `false` is false. */
export const deciding = <Value extends Json | undefined>(value: Value): Value | false =>
  value === 'false' ? false : value

/** `==` of JavaScript, but a boolean equals the text that names it. */
export const equals = (left: Json | undefined, right: Json | undefined): boolean => {
  if (typeof left === 'boolean' && typeof right === 'string' && NAMED.has(right))
    return String(left) === right
  if (typeof right === 'boolean' && typeof left === 'string' && NAMED.has(left)) return equals(right, left)
  // oxlint-disable-next-line eqeqeq
  return left == right
}

/** Nodes with a `test`, except the cases of `switch`, which compare with `===`. */
const TESTS: ReadonlySet<string> = new Set([
  'ConditionalExpression',
  'DoWhileStatement',
  'ForStatement',
  'IfStatement',
  'WhileStatement',
])

/** The program as QuickJS executes it: with `$is` where a truth decides, and `$equals` for `==`. */
export const withTruth = (code: string, nodes: readonly AnyNode[]): string => {
  const opening: Edit[] = []
  const closing: Edit[] = []
  const operators: Edit[] = []
  const wrap = ({ start, end }: { start: number; end: number }, by: string): void => {
    opening.push({ start, end: start, text: `${by}((` })
    closing.unshift({ start: end, end, text: '))' })
  }
  const wrapTest = (node: AnyNode): void => {
    if (!('test' in node) || typeof node.test !== 'object' || node.test === null) return
    const { start, end } = node.test as AnyNode
    wrap({ start, end }, '$is')
  }
  for (const node of nodes) {
    if (node.type === 'UnaryExpression' && node.operator === '!') wrap(node.argument, '$is')
    else if (node.type === 'LogicalExpression' && node.operator !== '??') wrap(node.left, '$is')
    else if (TESTS.has(node.type)) wrapTest(node)
    else if (node.type === 'BinaryExpression' && ['==', '!='].includes(node.operator)) {
      wrap(node, node.operator === '==' ? '$equals' : '!$equals')
      const start = code.indexOf(node.operator, node.left.end)
      operators.push({ start, end: start + 2, text: '),(' })
    }
  }
  // At one position the inner parts are closed first and the outer ones opened first.
  return applied([...closing, ...opening, ...operators], code)
}
