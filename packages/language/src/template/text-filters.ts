import { TemplateError } from './expression.ts'
import { asNumber, MAX_TEXT, toPlain, tooLong, type Value } from './value.ts'

const charsOf = (text: string): string[] => Array.from(text)

/** Pads a text with `left` and `right` blanks, up to the maximum length of a text. */
const between = (text: string, left: number, right: number): string => {
  if (left + right + text.length > MAX_TEXT) throw tooLong()
  return ' '.repeat(Math.max(0, left)) + text + ' '.repeat(Math.max(0, right))
}

const missing = (text: string, width: string): number =>
  Math.max(0, (Number(width) || 0) - charsOf(text).length)

export const ljust = (text: string, width: string): string => between(text, 0, missing(text, width))
export const rjust = (text: string, width: string): string => between(text, missing(text, width), 0)
export const center = (text: string, width: string): string => {
  const blanks = missing(text, width)
  return between(text, Math.ceil(blanks / 2), Math.floor(blanks / 2))
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

export const truncateWords = (text: string, count: string): string => {
  const words = wordsOf(text)
  const kept = words.slice(0, Math.max(0, Number(count) || 0))
  return [...kept, ...(kept.length > 0 && kept.length < words.length ? ['...'] : [])].join(' ')
}

/** Wraps a text into lines of a number of words. */
export const wrapWords = (text: string, count: string): string => {
  const each = Math.trunc(Number(count))
  if (!(each > 0)) return text
  const words = wordsOf(text)
  const lines = Math.ceil(words.length / each)
  return Array.from({ length: lines }, (_, index) =>
    words.slice(index * each, (index + 1) * each).join(' '),
  ).join('\n')
}

export const numberLines = (text: string): string =>
  text
    .split('\n')
    .map((line, index) => `${index + 1}. ${line}`)
    .join('\n')

export const truncateChars = (text: string, length: string): string => {
  const [chars, most] = [charsOf(text), Math.max(0, Number(length) || 0)]
  if (chars.length <= most) return text
  return most < 3 ? chars.slice(0, most).join('') : `${chars.slice(0, most - 3).join('')}...`
}

/** The digit at a position from the right; the whole text if there is none. */
export const digitAt = (text: string, place: string): string => {
  const at = Math.trunc(Number(place))
  return at > 0 && at <= text.length ? text.charAt(text.length - at) : text
}

const KEYS = ['', '', 'abc', 'def', 'ghi', 'jkl', 'mno', 'pqrs', 'tuv', 'wxyz']

export const phoneDigits = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    String(KEYS.findIndex((keys) => keys.includes(letter.toLowerCase()))),
  )

/** Characters that need no escaping in a URL. */
const ADDRESS = /[^A-Za-z0-9\-._/#%[\]=:;$&()+,!?*@'~]/gu

export const escapeAddress = (text: string): string =>
  text.toWellFormed().replaceAll(ADDRESS, (char) => encodeURIComponent(char))

export const withoutNamedTags = (text: string, names: string): string => {
  const removed = new Set(names.split(',').map((name) => name.trim()))
  return text.replaceAll(/<\/?(\w+)\/?>/g, (tag, name: string) => (removed.has(name) ? '' : tag)).trim()
}

/** The plural suffix for a number: by default `s` unless the number is one. */
export const pluralEnding = (count: number, endings: string): string => {
  const parts = endings === '' ? ['', 's'] : endings.split(',')
  const [one = '', many = ''] = parts.length === 1 ? ['', ...parts] : parts
  return count === 1 ? one : many
}

const VERB = /%([-+ #0]{0,8})(\d{0,9})(?:\.(\d*))?([A-Za-z%])/g
/** Maximum width of a format field. */
const MAX_WIDTH = 10_000

const asText = (value: Value, verb: string, precision: string | undefined): string => {
  const text = toPlain(value)
  if (verb === 'q') return JSON.stringify(text)
  return precision === undefined ? text : charsOf(text).slice(0, Number(precision)).join('')
}

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 }

const asDigits = (value: Value, verb: string, precision: string | undefined): string | undefined => {
  const number = asNumber(value)
  if (number === undefined) return undefined
  const digits = Math.min(100, Number(precision ?? 6))
  if (verb === 'd') return String(Math.trunc(number))
  if (verb === 'e' || verb === 'E') return number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
  if (verb === 'g' || verb === 'G')
    return precision === undefined ? String(number) : String(Number(number.toPrecision(Math.max(1, digits))))
  if (verb === 'f' || verb === 'F') return number.toFixed(digits)
  return Math.trunc(number).toString(BASES[verb] ?? 10)
}

const filled = (text: string, flags: string, width: number, isNumber: boolean): string => {
  if (flags.includes('-')) return text.padEnd(width)
  if (!flags.includes('0')) return text.padStart(width)
  const sign = isNumber && /^[+-]/.test(text) ? text.slice(0, 1) : ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}

/** Formats a value by the first field of a printf format: `%05d`, `%-10s`, `%.2f`, `%x`. */
export const formatted = (format: string, value: Value): string => {
  let isDone = false
  return format.replaceAll(
    VERB,
    (written, flags: string, width: string, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%'
      if (isDone) return written
      isDone = true
      if (Number(width) > MAX_WIDTH)
        throw new TemplateError(`a field of "${format}" is wider than ${MAX_WIDTH}`, 0)
      const isNumber = 'dfFeEgGxXobc'.includes(verb)
      if (!isNumber && !'svqt'.includes(verb))
        throw new TemplateError(`stringformat knows no "${written}"`, 0)
      if (verb === 'c')
        return String.fromCodePoint(Math.min(0x10ffff, Math.max(0, Math.trunc(asNumber(value) ?? 0))))
      const digits = isNumber ? asDigits(value, verb, precision) : asText(value, verb, precision)
      if (digits === undefined) throw new TemplateError(`"${written}" needs a number`, 0)
      const signed = isNumber && flags.includes('+') && !digits.startsWith('-') ? `+${digits}` : digits
      const text = verb === 'X' || verb === 'E' ? signed.toUpperCase() : signed
      return filled(text, flags, Number(width), isNumber)
    },
  )
}
