import { MAX_WORDS } from './argument-position.ts'
import type { CommandFrame, Delimiter } from './frames.ts'

type Command = CommandFrame<unknown>

const KEEPS_POSITION: ReadonlySet<string> = new Set([
  'if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', '}', 'fi', 'done',
]) // prettier-ignore

const OPENS: ReadonlySet<string> = new Set(['{', 'if', 'while', 'until', 'for'])
const CLOSES: ReadonlySet<string> = new Set(['}', 'fi', 'done'])

export const noWord = (frame: Command): void => {
  frame.wordStarted = false
  frame.literal = ''
  frame.text = ''
}

/** Adds an unquoted character by the author to the current word; undefined for anything else. */
export const extendWord = (frame: Command, literal: string | undefined): void => {
  if (literal === undefined) frame.literal = undefined
  else if (frame.literal !== undefined) frame.literal += literal
  frame.wordStarted = true
  frame.lastChar = ''
}

export const endWord = (frame: Command): void => {
  if (!frame.wordStarted) return
  const { literal: word, text, redirection } = frame
  noWord(frame)
  frame.redirection = ''
  if (redirection !== '') return
  if (frame.words.length <= MAX_WORDS) frame.words.push(text)
  const state = frame.cases.at(-1)
  const set = (next: 'in' | 'pattern') => {
    frame.cases[frame.cases.length - 1] = next
  }
  if (state === 'subject') return set('in')
  if (state === 'in') return word === 'in' ? set('pattern') : undefined
  if (word === 'esac' && (state === 'pattern' || (state === 'body' && frame.commandPosition))) {
    frame.cases.pop()
    frame.commandPosition = true
    return
  }
  if (state === 'pattern') return
  if (frame.commandPosition && word !== undefined) group(frame, word)
  frame.commandPosition = frame.commandPosition && word !== undefined && KEEPS_POSITION.has(word)
  if (frame.commandPosition) frame.words.length = 0
}

/** A keyword of the shell: the values of a group belong to the pipeline that continues after it. */
const group = (frame: Command, word: string): void => {
  if (word === 'case') frame.cases.push('subject')
  if (OPENS.has(word)) frame.groups.push(undefined)
  if (CLOSES.has(word)) frame.own = frame.groups.pop() ?? frame.own
}

/** Records that a command has a value, which it may print. */
export const noteValue = (frame: Command, name: string): void => {
  if (frame.redirection === 'text') frame.before ??= name
  else if (frame.redirection === '') frame.own ??= name
  for (const [index, known] of frame.groups.entries()) frame.groups[index] = known ?? name
}

/** Reads a character of the delimiter after `<<`. False if the character ends it. */
export const readDelimiter = (frame: Command, reading: Delimiter, char: string): boolean => {
  if (reading.quote === '' && !reading.started && (char === ' ' || char === '\t')) return true
  if (reading.quote === '' && /[\s;&|<>()]/.test(char)) {
    const { delimiter, quoted, strip } = reading
    const document = { delimiter, quoted, strip }
    if (reading.started) frame.hereDocuments.push(document)
    if (reading.started) frame.documents.push(document)
    frame.reading = undefined
    return false
  }
  reading.started = true
  if (reading.quote === '\\') {
    reading.delimiter += char
    reading.quote = ''
  } else if (char === reading.quote) reading.quote = ''
  else if (reading.quote === '' && (char === "'" || char === '"' || char === '\\')) {
    reading.quote = char
    reading.quoted = true
  } else reading.delimiter += char
  return true
}
