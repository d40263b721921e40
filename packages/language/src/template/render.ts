import { valueOr } from '@scanfarm/contracts'
import type { Json } from '../model.ts'
import { evaluateExpr, isFloat, type Variables } from './evaluate.ts'
import { TemplateError, type Expr } from './expression.ts'
import { dated } from '../date-layout.ts'
import type { Node, Template } from './parse.ts'
import {
  data,
  fromJson,
  isTruthy,
  MAX_TEXT,
  originOf,
  piecesOf,
  Text,
  tooLong,
  toPlain,
  type Piece,
  type Value,
} from './value.ts'

/** Maximum total iterations of all loops in one rendering. */
const MAX_TURNS = 10_000

/** Variables that the template defines, which shadow outer ones. */
class Inside implements Variables {
  readonly #own = new Map<string, Value>()
  readonly #outer: Variables

  constructor(outer: Variables) {
    this.#outer = outer
  }

  get(name: string): Value | undefined {
    return this.#own.get(name) ?? this.#outer.get(name)
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value)
  }
}

const shown = (expr: Expr, value: Value): Value =>
  typeof value === 'number' && Number.isInteger(value) && isFloat(expr) ? data(value.toFixed(1)) : value

/** Time limit of one rendering, which blocks the event loop. */
const MAX_MS = 500

class Rendering {
  readonly pieces: Piece[] = []
  readonly #ends = performance.now() + MAX_MS
  #turns = 0
  #size = 0

  run(nodes: readonly Node[], variables: Inside): void {
    for (const node of nodes) this.#node(node, variables)
  }

  #node(node: Node, variables: Inside): void {
    switch (node.kind) {
      case 'text':
        return this.#write(node.text)
      case 'hole':
        for (const piece of piecesOf(shown(node.expr, evaluateExpr(node.expr, variables)))) {
          if (piece.origin === 'author') this.#write(piece.text)
          else this.#add({ ...piece, name: node.source.trim() })
        }
        return
      case 'set':
        return variables.set(node.variable, evaluateExpr(node.to, variables))
      case 'if': {
        const taken = node.branches.find(
          ({ when }) => when === undefined || isTruthy(evaluateExpr(when, variables)),
        )
        return this.run(taken?.body ?? [], variables)
      }
      case 'for':
        return this.#for(node, variables)
      case 'with': {
        const inside = new Inside(variables)
        for (const [name, to] of node.sets) inside.set(name, evaluateExpr(to, variables))
        return this.run(node.body, inside)
      }
      case 'now':
        return this.#write(dated(new Date(), node.layout))
    }
  }

  /** Joins texts that tags have separated: the text after a value decides how the value is escaped. */
  #write(text: string): void {
    const last = this.pieces.at(-1)
    if (last?.origin !== 'author') return this.#add({ text, origin: 'author' })
    this.pieces[this.pieces.length - 1] = { text: last.text + text, origin: 'author' }
    this.#count(text)
  }

  #add(piece: Piece): void {
    this.pieces.push(piece)
    this.#count(piece.text)
  }

  #count(text: string): void {
    this.#size += text.length
    if (this.#size > MAX_TEXT) throw tooLong()
  }

  #for(node: Node & { kind: 'for' }, variables: Inside): void {
    const { variable, member, body, empty } = node
    const items = inTurn(itemsOf(node.of, variables), node)
    if (items.length === 0) return this.run(empty, variables)
    this.#turns += items.length
    if (this.#turns > MAX_TURNS)
      throw new TemplateError(`the loops of a template may have at most ${MAX_TURNS} iterations in total`, 0)
    for (const [index, item] of items.entries()) {
      if (performance.now() > this.#ends)
        throw new TemplateError(`the loops of a template take longer than ${MAX_MS / 1000}s`, 0)
      const inside = new Inside(variables)
      inside.set(variable, item.key ?? item.value)
      if (member !== undefined) inside.set(member, item.value)
      inside.set('forloop', loopPosition(index, items.length))
      this.run(body, inside)
    }
  }
}

const loopPosition = (index: number, length: number): Value => ({
  Counter: index + 1,
  Counter0: index,
  Revcounter: length - index,
  Revcounter0: length - index - 1,
  First: index === 0,
  Last: index === length - 1,
})

interface Item {
  /** The value of a member of an object. */
  readonly key?: Value
  readonly value: Value
}

const inTurn = (items: readonly Item[], { order }: Node & { kind: 'for' }): readonly Item[] => {
  if (order === 'reversed') return items.toReversed()
  if (order === undefined) return items
  const by = ({ key, value }: Item): string => toPlain(key ?? value)
  return items.toSorted((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0))
}

/** A list or the members of an object, also given as JSON text; null is an empty list. */
const itemsOf = (of: Expr, variables: Variables): Item[] => {
  const value = evaluateExpr(of, variables)
  const list = value instanceof Text ? parsedList(value.toString()) : value
  if (list === null) return []
  const origin = originOf([value]) === 'author' ? 'author' : 'data'
  if (Array.isArray(list)) return list.map((item: Json) => ({ value: fromJson(item, origin) }))
  if (typeof list !== 'object') throw new TemplateError('{% for %} needs a list', 0)
  return Object.entries(list)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => ({ key: fromJson(key, origin), value: fromJson(item as Json, origin) }))
}

const parsedList = (text: string): Json => {
  if (text.trim() === '') return null
  return valueOr(() => JSON.parse(text) as Json, text)
}

/** Renders a template. Its texts are the author's; values keep their origins. Throws `TemplateError`. */
export const renderPieces = (template: Template, variables: Variables): Piece[] => {
  const rendering = new Rendering()
  rendering.run(template.nodes, new Inside(variables))
  return rendering.pieces
}

export const renderText = (template: Template, variables: Variables): string =>
  renderPieces(template, variables)
    .map(({ text }) => text)
    .join('')
