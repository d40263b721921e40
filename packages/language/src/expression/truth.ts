import type { Program } from 'acorn'
import type { Json } from '../model.ts'
import { nodesIn } from './syntax.ts'

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

/** The program as QuickJS executes it: with `$is` where a truth decides, and `$equals` for `==`. */
export const withTruth = (code: string, tree: Program | undefined): string => {
  if (tree === undefined) return code
  const opening: { at: number; text: string }[] = []
  const closing: { at: number; text: string }[] = []
  const operators: { at: number; text: string }[] = []
  const wrap = ({ start, end }: { start: number; end: number }, by: string): void => {
    opening.push({ at: start, text: `${by}((` })
    closing.unshift({ at: end, text: '))' })
  }
  for (const node of nodesIn(tree)) {
    if (node.type === 'UnaryExpression' && node.operator === '!') wrap(node.argument, '$is')
    else if (node.type === 'LogicalExpression' && node.operator !== '??') wrap(node.left, '$is')
    else if ('test' in node && node.test && node.type !== 'SwitchCase') wrap(node.test, '$is')
    else if (node.type === 'BinaryExpression' && ['==', '!='].includes(node.operator)) {
      wrap(node, node.operator === '==' ? '$equals' : '!$equals')
      operators.push({ at: code.indexOf(node.operator, node.left.end), text: '),(' })
    }
  }
  const edits = [...closing, ...opening, ...operators.map((edit) => ({ ...edit, replaces: 2 }))]
  let [script, at] = ['', 0]
  // The sort is stable: at one position the inner parts are closed first and the outer ones opened first.
  for (const edit of edits.toSorted((a, b) => a.at - b.at)) {
    script += code.slice(at, edit.at) + edit.text
    at = edit.at + ('replaces' in edit ? edit.replaces : 0)
  }
  return script + code.slice(at)
}
