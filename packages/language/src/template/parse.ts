import { cached } from '../cached.ts'
import { parseExpr, TemplateError, type Expr } from './expression.ts'
import { tokensOf, type Token } from './tokens.ts'

export interface Hole {
  readonly expr: Expr
  /** As written, without the braces. */
  readonly source: string
}

/** A part of a template. The `source` of a tag is the text between `{%` and `%}`. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'hole' } & Hole)
  | { readonly kind: 'if'; readonly branches: readonly Branch[] }
  | {
      readonly kind: 'for'
      readonly variable: string
      /** For objects: `variable` is the key then. */
      readonly member?: string
      readonly order?: 'reversed' | 'sorted'
      readonly of: Expr
      readonly body: readonly Node[]
      /** The part after `{% empty %}`. */
      readonly empty: readonly Node[]
    }
  | { readonly kind: 'set'; readonly variable: string; readonly to: Expr }
  /** Variables up to `{% endwith %}`. */
  | {
      readonly kind: 'with'
      readonly sets: readonly (readonly [string, Expr])[]
      readonly body: readonly Node[]
    }
  /** The current time, by a layout like `2006-01-02 15:04:05`. */
  | { readonly kind: 'now'; readonly layout: string }

/** `when` is undefined for `{% else %}`. */
export interface Branch {
  readonly when?: Expr
  readonly body: readonly Node[]
}

export interface Template {
  readonly nodes: readonly Node[]
}

/** Maximum nesting of tags. */
const MAX_DEPTH = 20

const FOR = /^([A-Za-z_]\w*)(?:\s*,\s*([A-Za-z_]\w*))?\s+in\s+(.+?)(?:\s+(reversed|sorted))?$/
const SET = /^([A-Za-z_]\w*)\s*=\s*(.+)$/

/** Values separated by blanks: quoted texts, and names with filters. */
const WORDS = /(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"'])+/g
const WITH = /^([A-Za-z_]\w*)=(.+)$/
const WITH_AS = /^(.+)\s+as\s+([A-Za-z_]\w*)$/

/** The output of `{% templatetag … %}`. */
const BRACES: Readonly<Record<string, string>> = {
  openblock: '{%',
  closeblock: '%}',
  openvariable: '{{',
  closevariable: '}}',
  openbrace: '{',
  closebrace: '}',
  opencomment: '{#',
  closecomment: '#}',
}

class TemplateParser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(source: string) {
    this.#tokens = [...tokensOf(source)]
  }

  parse(): Node[] {
    const nodes = this.#body(0)
    const rest = this.#tokens[this.#at]
    if (rest !== undefined)
      throw new TemplateError(`{% ${rest.name} %} does not belong to any tag before it`, rest.at)
    return nodes
  }

  /** Parses up to a tag that continues or ends another one, which is not consumed. */
  #body(depth: number): Node[] {
    const nodes: Node[] = []
    for (let token = this.#tokens[this.#at]; token !== undefined; token = this.#tokens[this.#at]) {
      if (token.kind === 'tag' && isPart(token.name)) break
      this.#at += 1
      if (token.kind === 'text') nodes.push({ kind: 'text', text: token.text })
      else if (token.kind === 'hole') nodes.push(holeOf(token))
      else nodes.push(...this.#tag(token, depth + 1))
    }
    return nodes
  }

  #tag(token: Token, depth: number): Node[] {
    if (depth > MAX_DEPTH)
      throw new TemplateError('The tags of the template are nested too deeply.', token.at)
    switch (token.name) {
      case 'if':
        return [this.#if(token, depth)]
      case 'for':
        return [this.#for(token, depth)]
      case 'set': {
        const [, variable = '', to = ''] = SET.exec(token.text) ?? misread(token)
        return [{ kind: 'set', variable, to: exprOf(token, to) }]
      }
      case 'with': {
        const body = this.#body(depth)
        this.#close('endwith', token)
        return [{ kind: 'with', sets: setsOf(token), body }]
      }
      case 'now': {
        const [, , layout = misread(token)] = /^(["'])(.*)\1$/.exec(token.text) ?? []
        return [{ kind: 'now', layout }]
      }
      case 'firstof':
        return [firstOf(token)]
      case 'ifequal':
      case 'ifnotequal':
        return [this.#ifEqual(token, depth)]
      case 'templatetag':
        return [{ kind: 'text', text: BRACES[token.text] ?? misread(token) }]
      case 'comment':
        this.#body(depth)
        this.#close('endcomment', token)
        return []
      default:
        throw new TemplateError(
          `the template tag {% ${token.name} %} is not supported; supported are if, ifequal, for, set, with, firstof, now, templatetag and comment`,
          token.at,
        )
    }
  }

  #if(opening: Token, depth: number): Node {
    const branches: Branch[] = []
    let at: Token | undefined = opening
    while (at !== undefined && at.name !== 'endif') {
      const when = at.name === 'else' ? {} : { when: exprOf(at, at.text) }
      branches.push({ ...when, body: this.#body(depth) })
      const next = this.#tokens[this.#at]
      if (at.name === 'else' || !['elif', 'else'].includes(next?.name ?? '')) break
      this.#at += 1
      at = next
    }
    this.#close('endif', opening)
    return { kind: 'if', branches }
  }

  #ifEqual(opening: Token, depth: number): Node {
    const words = opening.text.match(WORDS) ?? []
    const [left, right, ...more] = words.map((word) => exprOf(opening, word))
    if (left === undefined || right === undefined || more.length > 0) return misread(opening)
    const op = opening.name === 'ifequal' ? '==' : '!='
    const branches: Branch[] = [{ when: { kind: 'binary', op, left, right }, body: this.#body(depth) }]
    if (this.#tokens[this.#at]?.name === 'else') {
      this.#at += 1
      branches.push({ body: this.#body(depth) })
    }
    this.#close(`end${opening.name}`, opening)
    return { kind: 'if', branches }
  }

  #for(opening: Token, depth: number): Node {
    const [, variable = '', member, list = '', order] = FOR.exec(opening.text) ?? misread(opening)
    const of = exprOf(opening, list)
    const body = this.#body(depth)
    const hasEmpty = this.#tokens[this.#at]?.name === 'empty'
    if (hasEmpty) this.#at += 1
    const empty = hasEmpty ? this.#body(depth) : []
    this.#close('endfor', opening)
    return {
      kind: 'for',
      variable,
      ...(member === undefined ? {} : { member }),
      ...(order === 'reversed' || order === 'sorted' ? { order } : {}),
      of,
      body,
      empty,
    }
  }

  #close(name: string, opening: Token): void {
    if (this.#tokens[this.#at]?.name !== name)
      throw new TemplateError(`{% ${opening.name} %} without {% ${name} %}`, opening.at)
    this.#at += 1
  }
}

/** Tags that only continue or end another one. */
const isPart = (name: string): boolean => ['elif', 'else', 'empty'].includes(name) || name.startsWith('end')

const exprOf = ({ name, text, at }: Token, source: string): Expr =>
  parseExpr(source, at, `{% ${name} ${text} %}`)

const holeOf = ({ text, at }: Token): Node => ({
  kind: 'hole',
  source: text,
  expr: parseExpr(text, at, `{{${text}}}`),
})

/** `{% with a=1 b=name|upper %}`, or `{% with 1 as a %}`. */
const setsOf = (token: Token): (readonly [string, Expr])[] => {
  const [, source, name] = WITH_AS.exec(token.text) ?? []
  if (source !== undefined && name !== undefined) return [[name, exprOf(token, source)]]
  const words = token.text.match(WORDS) ?? misread(token)
  return words.map((word) => {
    const [, variable = '', to = ''] = WITH.exec(word) ?? misread(token)
    return [variable, exprOf(token, to)]
  })
}

/** The first non-empty value: all of them joined by `or`. */
const firstOf = (token: Token): Node => {
  const [first, ...more] = (token.text.match(WORDS) ?? misread(token)).map((word) => exprOf(token, word))
  if (first === undefined) return misread(token)
  const nothing: Expr = { kind: 'literal', value: '' }
  const expr = [...more, nothing].reduce<Expr>(
    (left, right) => ({ kind: 'binary', op: 'or', left, right }),
    first,
  )
  return { kind: 'hole', expr, source: `% firstof ${token.text} %` }
}

const FORMS: Readonly<Record<string, string>> = {
  for: '{% for NAME in LIST %}',
  set: '{% set NAME = VALUE %}',
  with: '{% with NAME=VALUE %}',
  now: '{% now "2006-01-02 15:04:05" %}',
  firstof: '{% firstof VALUE VALUE %}',
  ifequal: '{% ifequal VALUE VALUE %}',
  ifnotequal: '{% ifnotequal VALUE VALUE %}',
  templatetag: '{% templatetag openvariable %}',
}

const misread = ({ name, text, at }: Token): never => {
  const form = FORMS[name] ?? ''
  throw new TemplateError(`"{% ${name} ${text} %}" is not understood; it is written ${form}`, at)
}

/** Whether a text is a template: only if it contains `{{`. Its tags are then evaluated too. */
export const isTemplate = (text: string): boolean => text.includes('{{')

/** Throws `TemplateError` with the offset of the syntax error. */
export const parseTemplate = cached((source: string): Template => ({
  nodes: isTemplate(source) ? new TemplateParser(source).parse() : [{ kind: 'text', text: source }],
}))

const inside = (node: Node): readonly Node[] => {
  if (node.kind === 'if') return node.branches.flatMap(({ body }) => body)
  if (node.kind === 'for') return [...node.body, ...node.empty]
  return node.kind === 'with' ? node.body : []
}

/** All nodes in source order, as if every branch were taken. */
const everyNode = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node) => [node, ...everyNode(inside(node))])

export const holesOf = (nodes: readonly Node[]): Hole[] =>
  everyNode(nodes).filter((node) => node.kind === 'hole')

/** Texts and holes. */
export const partsOf = (nodes: readonly Node[]): (string | Hole)[] =>
  everyNode(nodes).flatMap((node): (string | Hole)[] => {
    if (node.kind === 'text') return [node.text]
    if (node.kind === 'now') return [node.layout]
    return node.kind === 'hole' ? [node] : []
  })

/** The expressions of the tags. */
export const tagExprsOf = (nodes: readonly Node[]): Expr[] =>
  everyNode(nodes).flatMap((node) => {
    if (node.kind === 'if') return node.branches.flatMap(({ when }) => when ?? [])
    if (node.kind === 'for') return [node.of]
    if (node.kind === 'with') return node.sets.map(([, to]) => to)
    return node.kind === 'set' ? [node.to] : []
  })

/** Names that tags define for the rest of the template. */
export const namesOf = (nodes: readonly Node[]): string[] =>
  everyNode(nodes).flatMap((node) => {
    if (node.kind === 'for') return [node.variable, node.member ?? [], 'forloop'].flat()
    if (node.kind === 'with') return node.sets.map(([name]) => name)
    return node.kind === 'set' ? [node.variable] : []
  })
