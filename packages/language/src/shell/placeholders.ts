import type { ShellNode } from './grammar.ts'

/** Placeholders represent values in a command that is parsed: words without a meaning. */
const MARK = /SCANFARMVALUE(\d+)X/g

export const placeholder = (index: number): string => `SCANFARMVALUE${index}X`

export const placeholdersIn = (text: string): number[] =>
  [...text.matchAll(MARK)].map(([, index]) => Number(index))

export const withNames = (text: string, name: (index: number) => string): string =>
  text.replaceAll(MARK, (_, index: string) => `{{${name(Number(index))}}}`)

const unescaped = (text: string): string =>
  text.replaceAll(/\\([^])/g, (_, char: string) => (char === '\n' ? '' : char))

/** The content of a double-quoted text, as the shell reads it. */
export const insideQuotes = (text: string): string =>
  text.slice(1, -1).replaceAll(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char))

const EXPANSIONS: ReadonlySet<string> = new Set([
  'simple_expansion', 'expansion', 'command_substitution', 'process_substitution', 'arithmetic_expansion', 'brace_expression',
]) // prettier-ignore

export const hasExpansion = (node: ShellNode): boolean =>
  EXPANSIONS.has(node.type) || node.children.some(hasExpansion)

/** The word as the command receives it; undefined if it has expansions. A value is its placeholder. */
export const literalOf = (node: ShellNode): string | undefined => {
  switch (node.type) {
    case 'word':
    case 'number':
    case 'variable_name':
      return unescaped(node.text)
    case 'raw_string':
      return node.text.slice(1, -1)
    case 'string':
      return hasExpansion(node) ? undefined : insideQuotes(node.text)
    case 'command_name':
    case 'concatenation': {
      if (node.children.length === 0) return unescaped(node.text)
      const parts = node.children.map(literalOf)
      // The nodes of the grammar do not cover all characters of a word.
      const whole = node.children.map(({ text }) => text).join('') === node.text
      return whole && !parts.includes(undefined) ? parts.join('') : undefined
    }
    default:
      return hasExpansion(node) ? undefined : unescaped(node.text)
  }
}

/** The script that a word passes to another shell, with `x` for expansions; undefined if the lexer cannot follow it. */
export const scriptOf = (node: ShellNode): string | undefined => {
  if (node.type === 'raw_string') return node.text.slice(1, -1)
  if (node.type === 'word') return unescaped(node.text)
  if (node.type !== 'string') return undefined
  let { text } = node
  const hide = (inner: ShellNode): void => {
    if (EXPANSIONS.has(inner.type)) text = text.replace(inner.text, () => 'x')
    else inner.children.forEach(hide)
  }
  node.children.forEach(hide)
  return insideQuotes(text)
}

/** Names of the variables that a word expands; `1` means all positional parameters. */
export const variablesIn = (node: ShellNode): string[] => {
  const own =
    node.type === 'simple_expansion' || node.type === 'expansion'
      ? /^\$\{?[!#]?([A-Za-z_]\w*|[0-9@*])/.exec(node.text)?.[1]
      : node.type === 'variable_name'
        ? node.text
        : undefined
  const inner = node.children.flatMap(variablesIn)
  return own === undefined ? inner : [/^[0-9@*]/.test(own) ? '1' : own, ...inner]
}

/** The key of a file: the last part of its path. */
export const fileKey = (node: ShellNode): string => {
  const text = literalOf(node) ?? node.text.replaceAll(/["']/g, '')
  return text.slice(text.lastIndexOf('/') + 1)
}
