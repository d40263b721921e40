import { basename, dirname } from 'node:path/posix'
import type { Json } from '../model.ts'
import { TemplateError } from './expression.ts'
import {
  asNumber,
  authored,
  isTruthy,
  MAX_TEXT,
  originOf,
  Text,
  textOf,
  toJson,
  tooLong,
  toPlain,
  type Value,
} from './value.ts'

/** Parts that a template may split a text into. */
const MAX_ITEMS = 100_000

type Filter = (value: Value, argument: Value | undefined) => Value

/** A filter from text to text; the result is trusted no more than its inputs. */
const onText =
  (change: (text: string, argument: string) => string): Filter =>
  (value, argument) =>
    textOf(
      change(toPlain(value), argument === undefined ? '' : toPlain(argument)),
      originOf(argument === undefined ? [value] : [value, argument]),
    )

const isList = (value: Value): value is Extract<Value, readonly unknown[]> => Array.isArray(value)

const fromItem = (item: Json | undefined): Value =>
  item === undefined ? authored('') : typeof item === 'string' ? textOf(item, 'data') : item

/** The item of a list, or the character of a text, at one of its ends. */
const end =
  (at: 0 | -1): Filter =>
  (value) => {
    if (isList(value)) return fromItem(value.at(at))
    const text = toPlain(value)
    const char = at === 0 ? text.codePointAt(0) : Array.from(text.slice(-2)).at(-1)?.codePointAt(0)
    return char === undefined ? authored('') : textOf(String.fromCodePoint(char), originOf([value]))
  }

const lengthOf = (value: Value): number => {
  if (isList(value)) return value.length
  if (typeof value === 'object' && value !== null && !(value instanceof Text))
    return Object.keys(value).length
  let length = 0
  for (const _ of toPlain(value)) length++
  return length
}

const title = (text: string): string =>
  text.toLowerCase().replaceAll(/\b\p{L}/gu, (letter) => letter.toUpperCase())

/** Without everything from a `<` to the next `>`. A `<` that nothing closes stays. */
const withoutTags = (text: string): string => {
  let [kept, from] = ['', 0]
  for (let open = text.indexOf('<'); open !== -1; open = text.indexOf('<', from)) {
    const close = text.indexOf('>', open)
    if (close === -1) break
    kept += text.slice(from, open)
    from = close + 1
  }
  return kept + text.slice(from)
}

const split = (text: string, separator: string): string[] => {
  const parts = text.split(separator, MAX_ITEMS + 1)
  if (parts.length > MAX_ITEMS)
    throw new TemplateError(`a template may split a text into at most ${MAX_ITEMS} parts`, 0)
  return parts
}

const join = (texts: readonly string[], separator: string): string => {
  const size = texts.reduce((sum, text) => sum + text.length + separator.length, 0)
  if (size > MAX_TEXT) throw tooLong()
  return texts.join(separator)
}

const slice: Filter = (value, argument) => {
  const [from = '', to = ''] = (argument === undefined ? '' : toPlain(argument)).split(':')
  const [start, end] = [from === '' ? 0 : Number(from), to === '' ? undefined : Number(to)]
  if (isList(value)) return value.slice(start, end)
  return textOf(toPlain(value).slice(start, end), originOf([value]))
}

const floatFormat: Filter = (value, argument) => {
  const number = asNumber(value)
  const digits = argument === undefined ? -1 : (asNumber(argument) ?? -1)
  if (number === undefined) return authored('')
  const fixed = number.toFixed(Math.min(20, Math.abs(digits)))
  return authored(digits < 0 && Number(fixed) === Math.trunc(number) ? String(Math.trunc(number)) : fixed)
}

const yesNo: Filter = (value, argument) => {
  const [yes = 'yes', no = 'no', maybe = no] = argument === undefined ? [] : toPlain(argument).split(',')
  const chosen = value === null ? maybe : isTruthy(value) ? yes : no
  return textOf(chosen, originOf(argument === undefined ? [] : [argument]))
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Filters by name, as in `{{ name | upper }}`. */
export const FILTERS: Readonly<Record<string, Filter>> = {
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  title: onText(title),
  capfirst: onText((text) => text.slice(0, 1).toUpperCase() + text.slice(1)),
  trim: onText((text) => text.trim()),
  cut: onText((text, drop) => (drop === '' ? text : text.replaceAll(drop, ''))),
  addslashes: onText((text) => text.replaceAll(/["'\\]/g, String.raw`\$&`)),
  escapejs: onText((text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll("'", String.raw`\u0027`),
  ),
  escape: onText((text) => text.replaceAll(/[&<>"']/g, (char) => escapes[char] ?? char)),
  striptags: onText(withoutTags),
  urlencode: onText((text) => encodeURIComponent(text.toWellFormed())),
  basename: onText((text) => basename(text)),
  dirname: onText((text) => dirname(text)),
  truncatechars: onText((text, length) =>
    text.length > Number(length) ? `${text.slice(0, Math.max(0, Number(length) - 3))}...` : text,
  ),
  date: onText((text) => text),
  safe: (value) => value,
  default: (value, argument) =>
    isTruthy(value) || typeof value === 'number' ? value : (argument ?? authored('')),
  default_if_none: (value, argument) => (value === null ? (argument ?? authored('')) : value),
  first: end(0),
  last: end(-1),
  join: (value, argument) =>
    isList(value)
      ? textOf(
          join(
            value.map((item) => toPlain(fromItem(item))),
            argument === undefined ? '' : toPlain(argument),
          ),
          'data',
        )
      : value,
  length: lengthOf,
  wordcount: (value) =>
    toPlain(value)
      .split(/\s+/)
      .filter((word) => word !== '').length,
  split: (value, argument) => split(toPlain(value), argument === undefined ? ' ' : toPlain(argument)),
  slice,
  integer: (value) => Math.trunc(asNumber(value) ?? 0),
  float: (value) => asNumber(value) ?? 0,
  floatformat: floatFormat,
  add: (value, argument) => {
    const [a, b] = [asNumber(value), argument === undefined ? undefined : asNumber(argument)]
    if (a !== undefined && b !== undefined) return a + b
    return textOf(
      join([toPlain(value), argument === undefined ? '' : toPlain(argument)], ''),
      originOf([value, argument ?? null]),
    )
  },
  yesno: yesNo,
  stringformat: (value, argument) =>
    textOf(
      (argument === undefined ? '%s' : toPlain(argument)).replace(/%[sdv]/, () => toPlain(value)),
      originOf([value, argument ?? null]),
    ),
  json: (value) => textOf(JSON.stringify(toJson(value)), originOf([value])),
}
