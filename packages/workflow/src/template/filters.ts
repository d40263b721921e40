import { basename, dirname } from 'node:path/posix'
import { asNumber, authored, isTruthy, originOf, textOf, toJson, toPlain, type Value } from './value.ts'

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

const items = (value: Value): readonly Value[] => {
  if (isList(value)) return value.map((item) => (typeof item === 'string' ? textOf(item, 'data') : item))
  return [...toPlain(value)].map((char) => textOf(char, originOf([value])))
}

const title = (text: string): string =>
  text.toLowerCase().replaceAll(/\b\p{L}/gu, (letter) => letter.toUpperCase())

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
  striptags: onText((text) => text.replaceAll(/<[^>]*>/g, '')),
  urlencode: onText((text) => encodeURIComponent(text)),
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
  first: (value) => items(value)[0] ?? authored(''),
  last: (value) => items(value).at(-1) ?? authored(''),
  join: (value, argument) =>
    Array.isArray(value)
      ? textOf(
          value
            .map((item) => toPlain(typeof item === 'string' ? textOf(item, 'data') : item))
            .join(argument === undefined ? '' : toPlain(argument)),
          'data',
        )
      : value,
  length: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !('pieces' in value)
      ? Object.keys(value).length
      : items(value).length,
  wordcount: (value) =>
    toPlain(value)
      .split(/\s+/)
      .filter((word) => word !== '').length,
  split: (value, argument) => toPlain(value).split(argument === undefined ? ' ' : toPlain(argument)),
  slice,
  integer: (value) => Math.trunc(asNumber(value) ?? 0),
  float: (value) => asNumber(value) ?? 0,
  floatformat: floatFormat,
  add: (value, argument) => {
    const [a, b] = [asNumber(value), argument === undefined ? undefined : asNumber(argument)]
    if (a !== undefined && b !== undefined) return a + b
    return textOf(
      toPlain(value) + (argument === undefined ? '' : toPlain(argument)),
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
