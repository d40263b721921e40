import { valueOr } from '@scanfarm/contracts'
import { tokenizer, tokTypes, type TokenType } from 'acorn'
import { cached } from '../cached.ts'
import { injectedCode, type InjectedCode } from '../check/injection-checks.ts'
import { ownNames } from '../check/names.ts'
import { SHELL_COMMANDS } from './calls.ts'
import { applied, type Edit } from './edits.ts'
import { simpleOf, type Simple } from './simple.ts'
import { nodesIn, syntaxOf } from './syntax.ts'
import { withTruth } from './truth.ts'
import { TemplateError, type Expr } from '../template/expression.ts'
import { holesOf, parseTemplate } from '../template/parse.ts'

export interface Hole {
  readonly expr: Expr
  /** Whether the hole is part of a shell command, where it is escaped for its quoting context. */
  readonly shell: boolean
}

/** An expression prepared for the engine: every `{{x}}` is replaced by a reference to a value and never becomes code. */
export interface Program {
  readonly code: string
  /** The code as the engine executes it. */
  readonly script: string
  /** The holes by index: `$hole[0]` in code, `$text[0]` inside quotes, `$shell[0]` in a shell command. */
  readonly holes: readonly Hole[]
  /** Names of variables and functions that the program may use. */
  readonly names: ReadonlySet<string>
  /** The program as a tree, if it can be evaluated without the engine. */
  readonly simple: Simple | undefined
  /** Names of called functions with their first offset in the source. */
  readonly calls: ReadonlyMap<string, number>
  /** Names that the program defines itself, or writes as keys of objects. */
  readonly own: ReadonlySet<string>
  /** The first call that passes a text joined with values to a shell or an interpreter. */
  readonly injected: InjectedCode | undefined
}

interface Found {
  readonly start: number
  readonly end: number
  readonly expr: Expr
}

interface Token {
  readonly type: TokenType
  readonly start: number
  readonly end: number
  /** The text of a name or keyword, else `""`. */
  readonly word: string
  /** After a point. */
  readonly isMember: boolean
  readonly holes: readonly Found[]
}

const exprOf = (hole: string): Expr | undefined =>
  valueOr(() => holesOf(parseTemplate(hole).nodes)[0]?.expr, undefined)

/** All `{{…}}` that are templates: `{{` may also begin a block or an object of JavaScript. Those in comments are included. */
const findHoles = (source: string): Found[] => {
  const found: Found[] = []
  const pattern = /\\[^]|\{\{/g
  for (let match = pattern.exec(source); match !== null; match = pattern.exec(source)) {
    const start = match.index
    const end = source.indexOf('}}', start + 2) + 2
    if (match[0] !== '{{' || end < start) continue
    const expr = exprOf(source.slice(start, end))
    if (expr !== undefined) found.push({ start, end, expr })
    pattern.lastIndex = expr === undefined ? start + 1 : end
  }
  return found
}

const throwHoleInRegex = (at: number): never => {
  throw new TemplateError('"{{" is not allowed in a regular expression; use new RegExp("…")', at)
}

/** The tokens up to the end or to a syntax error, which the engine reports. Passes each comment to `onComment`. */
const tokensOf = (source: string, onComment: (start: number, end: number) => void): Token[] => {
  const found = findHoles(source)
  // A hole becomes a name of the same length, so that its quotes and braces end nothing.
  const masks = found.map(({ start, end }) => ({ start, end, text: ` ${'$'.repeat(end - start - 2)} ` }))
  const tokens: Token[] = []
  let next = 0
  try {
    for (const { type, start, end } of tokenizer(applied(masks, source), {
      ecmaVersion: 'latest',
      onComment: (_isBlock, _text, from, to) => onComment(from, to),
    })) {
      while ((found[next]?.start ?? Infinity) < start - 1) next += 1
      const first = next
      while ((found[next]?.end ?? Infinity) <= end + 1) next += 1
      const holes = found.slice(first, next)
      if (type === tokTypes.regexp && source.slice(start, end).includes('{{')) throwHoleInRegex(start)
      const isWord = type.keyword !== undefined || (type === tokTypes.name && holes.length === 0)
      const before = tokens.at(-1)?.type
      const isMember = before === tokTypes.dot || before === tokTypes.questionDot
      tokens.push({ type, start, end, word: isWord ? source.slice(start, end) : '', isMember, holes })
    }
  } catch (error) {
    if (!(error instanceof SyntaxError && 'pos' in error)) throw error
    const at = Number(error.pos)
    if (error.message.startsWith('Unterminated string'))
      throw new TemplateError(`a text that begins with ${source.charAt(at)} has no end`, at)
    if (/regular expression/i.test(error.message) && /^.*\{\{/.test(source.slice(at))) throwHoleInRegex(at)
  }
  return tokens
}

const prepare = (source: string): Program => {
  const holes: Hole[] = []
  const names = new Set<string>()
  const calls = new Map<string, number>()
  const edits: Edit[] = []
  /** The called function of each open parenthesis. */
  const open: string[] = []
  let before: Token | undefined
  for (const token of tokensOf(source, (start, end) => edits.push({ start, end, text: ' ' }))) {
    const { type, start, end, word, isMember } = token
    if (word !== '' && !isMember) names.add(word)
    if (type === tokTypes.parenL && before !== undefined && before.word !== '') {
      open.push(before.isMember ? `.${before.word}` : before.word)
      if (!before.isMember && !calls.has(before.word)) calls.set(before.word, before.start)
    } else if (type === tokTypes.parenL) {
      // Only groups its content.
      open.push(open.at(-1) ?? '')
    } else if (type === tokTypes.parenR) open.pop()
    before = token

    const quoted = type !== tokTypes.name
    const shell = SHELL_COMMANDS.has(open.at(-1) ?? '')
    const quote = source.charAt(start)
    for (const { expr, ...place } of token.holes) {
      const value = `${shell ? '$shell' : quoted ? '$text' : '$hole'}[${holes.length}]`
      holes.push({ expr, shell })
      const inText = type === tokTypes.string ? `${quote}+${value}+${quote}` : `\${${value}}`
      edits.push({ ...place, text: quoted ? inText : ` ${value} ` })
    }
    if (type === tokTypes.string && token.holes.length > 0)
      edits.push({ start, end: start, text: '(' }, { start: end, end, text: ')' })
  }
  const code = applied(edits, source)
  const exprs = holes.map(({ expr }) => expr)
  const tree = syntaxOf(code)
  const nodes = tree === undefined ? [] : nodesIn(tree)
  const simple = holes.some(({ shell }) => shell) ? undefined : simpleOf(tree, exprs)
  return {
    code,
    script: withTruth(code, nodes),
    holes,
    names,
    calls,
    own: ownNames(nodes),
    injected: injectedCode(nodes),
    simple,
  }
}

/** Throws `TemplateError`. */
export const prepareProgram = cached(prepare)
