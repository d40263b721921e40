import type { Json } from '@scanfarm/language'
import { local, textOf, type FunctionGroup, type Call, type Run } from '../define.ts'
import { patternOf } from './pattern.ts'
import { targetSpace } from '../network/target.ts'

/** Maximum number of characters of a text, and items of a list, that a function returns. */
const MAX_CHARS = 1 << 24
const MAX_PARTS = 1_000_000

const bounded = (size: number): void => {
  if (size > MAX_CHARS) throw new Error(`the text would have more than ${MAX_CHARS} characters`)
}

const replaced = (text: string, old: string, by: string): string => {
  const matches = old === '' ? text.length + 1 : countOf(text, old)
  bounded(text.length + matches * (by.length - old.length))
  return text.replaceAll(old, () => by)
}

const countOf = (text: string, part: string): number => {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++
  return count
}

const splitText = (text: string, delimiter: string): string[] => {
  const parts = text.split(delimiter, MAX_PARTS + 1)
  if (parts.length > MAX_PARTS) throw new Error(`the text has more than ${MAX_PARTS} parts`)
  return parts
}

const joinTexts = (texts: readonly string[], delimiter: string): string => {
  bounded(texts.reduce((sum, text) => sum + text.length + delimiter.length, 0))
  return texts.join(delimiter)
}

const trimChars = (text: string, characters: string, left: boolean, right: boolean): string => {
  const cut = new Set(characters)
  const parts = [...text]
  let [from, to] = [0, parts.length]
  while (left && from < to && cut.has(parts[from] ?? '')) from++
  while (right && to > from && cut.has(parts[to - 1] ?? '')) to--
  return parts.slice(from, to).join('')
}

/** A field, counted from 1. */
const fieldAt = (fields: readonly string[], at: Call, index: number): string =>
  fields[Math.trunc(at.number(index, 0)) - 1] ?? ''

/** Whether both arguments are given. */
const hasBoth = (at: Call): boolean => at.args[0] !== undefined && at.args[1] !== undefined

/** False unless both texts are given. */
const onTwo =
  (test: (first: string, second: string) => boolean): Run =>
  (at) =>
    hasBoth(at) && test(at.text(0), at.text(1))

const INTEGER = /^[+-]?\d+$/
const FLOAT = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

const numberOf = (text: string, shape: RegExp): number => {
  const trimmed = text.trim()
  const number = shape.test(trimmed) ? Number(trimmed) : 0
  return Number.isFinite(number) ? number : 0
}

/** Truth in JavaScript. */
const isTruthy = (value: Json | undefined): boolean => !!value

export const TEXT_FUNCTIONS: FunctionGroup = {
  title: 'Text',
  functions: [
    local('trim(text): text', 'Without blanks at both ends.', (at) => at.text(0).trim()),
    local('trim_string(text, characters): text', 'Without these characters at both ends.', (at) =>
      trimChars(at.text(0), at.text(1), true, true),
    ),
    local('trim_left(text, characters): text', 'Without these characters at the beginning.', (at) =>
      trimChars(at.text(0), at.text(1), true, false),
    ),
    local('trim_right(text, characters): text', 'Without these characters at the end.', (at) =>
      trimChars(at.text(0), at.text(1), false, true),
    ),
    local('split(text, delimiter): list', 'The parts between the delimiters.', (at) =>
      hasBoth(at) ? splitText(at.text(0), at.text(1)) : [],
    ),
    local('join(list, delimiter): text', 'The items with the delimiter between them.', (at) =>
      joinTexts(
        (Array.isArray(at.args[0]) ? at.args[0] : []).map((item) => textOf(item)),
        at.text(1),
      ),
    ),
    local('replace(text, old, new): text', 'Every occurrence replaced.', (at) =>
      hasBoth(at) ? replaced(at.text(0), at.text(1), at.text(2)) : at.text(0),
    ),
    local(
      'contains(text, part): bool',
      'Whether the text contains the other one. A list is its items with commas between them.',
      onTwo((text, part) => text.includes(part)),
    ),
    local(
      'starts_with(text, part): bool',
      'Whether the text begins with the prefix.',
      onTwo((text, part) => text.startsWith(part)),
    ),
    local(
      'ends_with(text, part): bool',
      'Whether the text ends with the suffix.',
      onTwo((text, part) => text.endsWith(part)),
    ),
    local('to_lower_case(text): text', 'In lower case.', (at) => at.text(0).toLowerCase(), [
      'to_lower',
      'toLower',
    ]),
    local('to_upper_case(text): text', 'In upper case.', (at) => at.text(0).toUpperCase(), [
      'to_upper',
      'toUpper',
    ]),
    local(
      'match(text, pattern): bool',
      'Whether the regular expression occurs in the text. False for an invalid one.',
      onTwo((text, pattern) => patternOf(pattern).test(text)),
    ),
    local(
      'regex_match(pattern, text): bool',
      'Whether the regular expression occurs in the text. The pattern comes first; false for an invalid one.',
      onTwo((pattern, text) => patternOf(pattern).test(text)),
    ),
    local(
      'cut_with_delim(text, delimiter, field): text',
      'One field, counted from 1.',
      (at) => (hasBoth(at) ? fieldAt(splitText(at.text(0), at.text(1)), at, 2) : ''),
      ['cut'],
    ),
    local('cut_space(text, field): text', 'One field between blanks, counted from 1.', (at) =>
      fieldAt(at.text(0).trim().split(/\s+/, MAX_PARTS), at, 1),
    ),
    local('normalize_path(text): text', 'As a file name: `/ \\ : * ? " < > |` become `_`.', (at) =>
      at.text(0).replaceAll(/[/\\:*?"<>|]/g, '_'),
    ),
    local('get_target_space(target): text', 'The workspace name of a target.', (at) =>
      targetSpace(at.text(0)),
    ),
    local('parse_int(value): number', 'The text as a whole number; 0 if it is none.', (at) =>
      numberOf(at.text(0), INTEGER),
    ),
    local('parse_float(value): number', 'The text as a number; 0 if it is none.', (at) =>
      numberOf(at.text(0), FLOAT),
    ),
    local('leading_int(text): number', 'The whole number a text begins with, or 0.', (at) => {
      const number = Number.parseInt(at.text(0), 10)
      return Number.isNaN(number) ? 0 : number
    }),
    local('to_string(value): text', 'As text; a list is its items with commas between them.', (at) =>
      at.text(0, at.args[0] === null ? 'null' : ''),
    ),
    local(
      'to_boolean(value): bool',
      'The value as a boolean of JavaScript: every text except "" is true, also "false".',
      (at) => isTruthy(at.args[0]),
    ),
    local('is_true(value): bool', 'True for true, 1, yes and on.', (at) =>
      ['true', '1', 'yes', 'on'].includes(at.text(0).trim().toLowerCase()),
    ),
  ],
}
