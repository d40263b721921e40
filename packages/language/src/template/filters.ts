import { basename, dirname } from 'node:path/posix'
import type { Json } from '../model.ts'
import { TemplateError } from './expression.ts'
import {
  center,
  digitAt,
  escapeAddress,
  formatted,
  ljust,
  numberLines,
  phoneDigits,
  pluralEnding,
  rjust,
  truncateChars,
  truncateWords,
  withoutNamedTags,
  wrapWords,
} from './text-filters.ts'
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

/** The value of a name that is not defined. */
export const UNDEFINED = authored('')

/** Maximum number of parts of a split text. */
const MAX_ITEMS = 100_000

type Filter = (value: Value, argument: Value | undefined) => Value

/** The text of an argument. */
const wordOf = (argument: Value | undefined, missing = ''): string =>
  argument === undefined ? missing : toPlain(argument)

const numberOf = (argument: Value | undefined): number | undefined =>
  argument === undefined ? undefined : asNumber(argument)

/** The origin of a result that follows from some of the inputs. */
const from = (...inputs: readonly (Value | undefined)[]) =>
  originOf(inputs.filter((input) => input !== undefined))

/** A filter from text to text. The result is at most as trusted as its inputs. */
const onText =
  (change: (text: string, argument: string) => string): Filter =>
  (value, argument) =>
    textOf(change(toPlain(value), wordOf(argument)), from(value, argument))

const isList = (value: Value): value is Extract<Value, readonly unknown[]> => Array.isArray(value)

const fromItem = (item: Json | undefined): Value =>
  item === undefined ? authored('') : typeof item === 'string' ? textOf(item, 'data') : item

/** The first or last item of a list or character of a text. */
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

/** Removes everything from a `<` to the next `>`. An unclosed `<` stays. */
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
  const parts =
    separator === '' ? Array.from(text.slice(0, 2 * MAX_ITEMS + 2)) : text.split(separator, MAX_ITEMS + 1)
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
  const [from = '', to = ''] = wordOf(argument).split(':')
  const [start, end] = [from === '' ? 0 : Number(from), to === '' ? undefined : Number(to)]
  if (isList(value)) return value.slice(start, end)
  return textOf(toPlain(value).slice(start, end), originOf([value]))
}

const floatFormat: Filter = (value, argument) => {
  const number = asNumber(value)
  const digits = numberOf(argument) ?? -1
  if (number === undefined) return authored('')
  const fixed = number.toFixed(Math.min(20, Math.abs(digits)))
  return authored(digits < 0 && Number(fixed) === Math.trunc(number) ? String(Math.trunc(number)) : fixed)
}

const yesNo: Filter = (value, argument) => {
  const words = wordOf(argument, 'yes,no,maybe').split(',')
  const [yes = 'yes', no = 'no', maybe = no] = words
  const chosen = value === null || value === UNDEFINED ? maybe : isTruthy(value) ? yes : no
  return textOf(chosen, from(argument))
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeMarkup = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => escapes[char] ?? char)

const random: Filter = (value) => {
  const items = isList(value) ? value : Array.from(toPlain(value))
  if (items.length === 0 || typeof value === 'number') return value
  const item = items[Math.floor(Math.random() * items.length)]
  return typeof item === 'string' ? textOf(item, isList(value) ? 'data' : originOf([value])) : fromItem(item)
}

const divides: Filter = (value, argument) => {
  const [number, by] = [asNumber(value), numberOf(argument)]
  return number !== undefined && by !== undefined && by !== 0 && number % by === 0
}

const pluralize: Filter = (value, argument) => {
  const count = asNumber(value)
  if (count === undefined) throw new TemplateError('pluralize needs a number', 0)
  return textOf(pluralEnding(count, wordOf(argument)), from(argument))
}

/** Filters by name, used as `{{ name | upper }}`. */
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
  escape: onText(escapeMarkup),
  e: onText(escapeMarkup),
  striptags: onText(withoutTags),
  urlencode: onText((text) => encodeURIComponent(text.toWellFormed())),
  basename: onText((text) => basename(text)),
  dirname: onText((text) => dirname(text)),
  truncatechars: onText(truncateChars),
  truncatewords: onText(truncateWords),
  wordwrap: onText(wrapWords),
  linenumbers: onText(numberLines),
  ljust: onText(ljust),
  rjust: onText(rjust),
  center: onText(center),
  get_digit: onText(digitAt),
  phone2numeric: onText(phoneDigits),
  iriencode: onText(escapeAddress),
  removetags: onText(withoutNamedTags),
  date: onText((text) => text),
  time: onText((text) => text),
  safe: (value) => value,
  // Texts like 0 and false are not empty; neither are numbers and booleans.
  default: (value, argument) =>
    toPlain(value) === '' || (isList(value) && value.length === 0) ? (argument ?? authored('')) : value,
  default_if_none: (value, argument) =>
    value === null || value === UNDEFINED ? (argument ?? authored('')) : value,
  divisibleby: divides,
  length_is: (value, argument) => lengthOf(value) === numberOf(argument),
  make_list: (value) => split(toPlain(value), ''),
  pluralize,
  random,
  first: end(0),
  last: end(-1),
  join: (value, argument) =>
    isList(value)
      ? textOf(
          join(
            value.map((item) => toPlain(fromItem(item))),
            wordOf(argument),
          ),
          'data',
        )
      : value,
  length: lengthOf,
  wordcount: (value) =>
    toPlain(value)
      .split(/\s+/)
      .filter((word) => word !== '').length,
  split: (value, argument) => split(toPlain(value), wordOf(argument, ' ')),
  slice,
  integer: (value) => Math.trunc(asNumber(value) ?? 0),
  float: (value) => asNumber(value) ?? 0,
  floatformat: floatFormat,
  add: (value, argument) => {
    const [a, b] = [asNumber(value), numberOf(argument)]
    if (a !== undefined && b !== undefined) return a + b
    return textOf(join([toPlain(value), wordOf(argument)], ''), from(value, argument))
  },
  yesno: yesNo,
  stringformat: (value, argument) => textOf(formatted(wordOf(argument, '%s'), value), from(value, argument)),
  json: (value) => textOf(JSON.stringify(toJson(value)), originOf([value])),
}
