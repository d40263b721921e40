import { argumentPosition, functionsOf, optionOf } from './argument-position.ts'
import type { CommandReader } from './command-reader.ts'
import { endWord, noteValue } from './command-words.ts'
import type { Origin, Piece } from '../template/value.ts'
import type { CodeContext, CommandFrame as CommandFrameOf, Frame as FrameOf } from './frames.ts'
import { codeContext, followsCode, HARMLESS_TEXT, INSTEAD, isHarmless, scriptFollows } from './programs.ts'
import {
  bareWord,
  insideBackquotes,
  insideDouble,
  insideQuotedBackquotes,
  insideQuotedBrace,
  insideSingle,
  singleQuoted,
} from './quote.ts'
import { ShellReader } from './reader.ts'
import { shellWords } from './words.ts'

type Frame = FrameOf<CommandReader>
type CommandFrame = CommandFrameOf<CommandReader>

/** A value cannot be inserted at this position without changing the meaning of the command. */
export class UnsafeContextError extends Error {
  override readonly name = 'UnsafeContextError'
}

function refuse(reason: string): never {
  throw new UnsafeContextError(reason)
}

/** Maximum depth of scripts in scripts. */
const MAX_LEVEL = 8

/** dash loses bytes of a line that begins like the delimiter and continues with a non-ASCII character. */
const breaksAt = (line: string, delimiter: string): boolean => {
  let same = 0
  while (same < line.length && line[same] === delimiter[same]) same++
  return same > 0 && (line.codePointAt(same) ?? 0) > 0x7e
}

/** An expansion to an empty text. It ends the name of a variable, and keeps a line of a here-document from being its delimiter. */
const GUARD = '${0+}'

export interface LexerOptions {
  /** Names of functions that the command defines. How they use their arguments is unknown. */
  readonly functions?: ReadonlySet<string>
  /** Reports values that become code, by name, instead of refusing harmful ones. */
  readonly onCode?: (name: string, description: string) => void
}

/**
 * Escapes values for their quoting context in a shell command: `feed` takes the author's text, `value` takes a value.
 * Throws `UnsafeContextError` if no escaping is safe, if a program would read the value as code, or if it would be an
 * option where the author wrote a word.
 */
export class ShellLexer extends ShellReader {
  readonly #functions: ReadonlySet<string>
  readonly #options: LexerOptions
  readonly #level: number

  constructor(options: LexerOptions = {}, level = 0) {
    super()
    this.#options = options
    this.#functions = options.functions ?? new Set()
    this.#level = level
  }

  protected override nested(): ShellLexer {
    if (this.#level >= MAX_LEVEL)
      refuse(`a command with values can have at most ${MAX_LEVEL} scripts in scripts`)
    return new ShellLexer(this.#options, this.#level + 1)
  }

  /** The remaining output, at the end of the command. */
  finish(): string {
    const { top } = this
    this.end()
    this.out += top.kind === 'backquote' ? top.raw : this.pending
    this.pending = ''
    return this.take()
  }

  /**
   * `next` is the text after the value. It may turn digits into a file descriptor, or a line into a delimiter. The words
   * of `param` and `args` are separate arguments where that is possible.
   */
  override value(text: string, next = '', name = 'value', origin: Origin = 'data'): void {
    this.#begin(text)
    const { top } = this
    if (top.kind === 'backquote') {
      this.#noteValue(text, name)
      top.inner.value(text, next, name, origin)
      this.out += this.#inBackquotes(top.inner)
      return
    }
    const list = origin === 'args' ? this.#args(top, text) : this.#words(top, text, origin)
    if (list === undefined) this.#refuseOption(text, name)
    this.#noteValue(text, name)
    if (this.inName) this.out += GUARD
    this.inName = false
    if (list === undefined || top.kind !== 'command') this.out += this.#escaped(top, text, next, name)
    else
      for (const [index, word] of list.entries()) {
        if (index > 0) {
          endWord(top)
          this.out += ' '
        }
        if (word !== undefined) this.out += this.#bare(top, word, index === list.length - 1 ? next : '', name)
      }
  }

  /** The words of a text without a type where they are arguments of a command; undefined for a part of them that is empty. */
  #words(top: Frame, text: string, origin: Origin): (string | undefined)[] | undefined {
    if (origin !== 'param' || top.kind !== 'command') return undefined
    const vanishes = text === '' && top.commandPosition && !top.wordStarted && top.isCommandWord
    if (!vanishes && argumentPosition(top, this.#functions) !== 'plain') return undefined
    return text.split(/[ \t\r\n]+/).map((part) => (part === '' ? undefined : part))
  }

  #args(top: Frame, text: string): string[] {
    if (top.kind !== 'command' || top.wordStarted || argumentPosition(top, this.#functions) === 'none')
      refuse(
        'a value of type args can only be arguments of a command, as a word without quotes: not the command, after NAME=, in a redirection, or after a program that runs its arguments',
      )
    const list = shellWords(text)
    if (list === undefined) refuse('a value of type args has an unbalanced quote')
    return list
  }

  #begin(text: string): void {
    if (text.includes('\0')) refuse('a value with a NUL character cannot be part of a command')
    if (this.lost !== '') refuse(this.lost)
    this.#settle()
  }

  /** What the reader of backquotes has escaped, for the quotes around them. */
  #inBackquotes(inner: CommandReader): string {
    const escaped = inner.take()
    const { kind } =
      this.frames.findLast((frame) => ['command', 'here-document', 'brace', 'double'].includes(frame.kind)) ??
      this.top
    if (kind === 'brace' && escaped.includes('"'))
      refuse('a value with a double quote cannot be in `…` inside ${…}: use $(…)')
    return kind === 'double' || kind === 'brace'
      ? insideQuotedBackquotes(escaped, inner.isInDoubleQuotes)
      : insideBackquotes(escaped)
  }

  /** A value follows: no pending character may combine with it. */
  #settle(): void {
    const { pending, top } = this
    this.pending = ''
    if (top.kind === 'backquote') {
      if (top.isEscaped) top.inner.feed('\\')
      top.isEscaped = false
      top.raw = ''
      return
    }
    if (pending === '\\') {
      // Unquoted, it would quote the first character, which is quoted anyway; inside quotes it is literal.
      if (top.kind === 'command' || (top.kind === 'brace' && !top.quoted)) return
      this.out += '\\\\'
      this.wordText('\\')
    } else if (pending === '$') {
      if (top.kind === 'arithmetic') refuse('a value cannot name a shell variable')
      this.out += '\\$'
      if (top.kind === 'command') this.startWord(top)
      this.wordText('$')
    } else if (pending === '$(') this.openSubstitution()
    else if (pending === '<') {
      this.out += pending
      this.redirect(top, '<')
    } else if (pending === '<<') refuse('a value cannot be the delimiter of a here-document')
  }

  protected override code(code: CodeContext, name: string, text: string): void {
    const { onCode } = this.#options
    if (onCode !== undefined) return onCode(name, code.description)
    if (code.warns === true || isHarmless(text, code)) return
    refuse(
      `{{${name}}} becomes code in ${code.description}, where only ${HARMLESS_TEXT} are allowed. ${INSTEAD}.`,
    )
  }

  /** Refuses a value inside the code of a program, and records those that a command may print. */
  #noteValue(text: string, name: string): void {
    const { frames, top } = this
    if (top.kind === 'command' && top.comment) return
    if (top.kind === 'here-document' && top.document.reader !== undefined)
      this.code(top.document.reader, name, text)
    for (const frame of frames) {
      if (frame.kind !== 'command') continue
      const context =
        this.scriptOf(frame) === undefined || frame === this.command
          ? frame.redirection === ''
            ? codeContext(frame.words, frame.text)
            : undefined
          : { description: 'an expansion in the script of another shell' }
      if (context !== undefined) this.code(context, name, text)
      if (this.#options.onCode !== undefined || !isHarmless(text)) noteValue(frame, name)
    }
  }

  /** Refuses a value that would be an option where the author wrote a word. */
  #refuseOption(text: string, name: string): void {
    const at = this.frames.findLastIndex(({ kind }) => kind === 'command')
    const frame = this.frames[at]
    if (frame?.kind !== 'command' || !/^\0*$/.test(frame.text)) return
    const isScript = frame.script !== undefined && (frame.wordStarted || scriptFollows(frame.words))
    if (isScript && frame === this.command && frame.redirection === '') return
    const starts = this.frames
      .slice(at + 1)
      .every((inner) => ['single', 'double'].includes(inner.kind) || (inner.kind === 'brace' && inner.empty))
    const command = starts && !followsCode(frame.words) ? optionOf(text, frame, this.#functions) : undefined
    if (command === undefined) return
    refuse(
      `{{${name}}} begins with - and would be an option of ${command}. Write -- before it, attach it to its option as in --option={{${name}}}, or begin the word with ./; a param that may be options needs type: args.`,
    )
  }

  #escaped(top: Exclude<Frame, { kind: 'backquote' }>, text: string, next: string, name: string): string {
    switch (top.kind) {
      case 'command':
        if (top.comment) return text.replaceAll(/[\r\n]/g, ' ')
        return this.#bare(top, text, next, name)
      case 'single':
        return this.#apart(insideSingle(this.#inWord(text, next, name)), "''")
      case 'dollar-single':
        return refuse('a value cannot be inside $\'…\', which not every shell supports; use "…"')
      case 'double':
        return this.#apart(insideDouble(this.#inWord(text, next, name)), '""')
      case 'brace':
        return this.#inBrace(top, text)
      case 'arithmetic':
        if (/^-?\d+$/.test(text)) return text
        return refuse('only a whole number can be inside $((…))')
      case 'here-document':
        return this.#inHereDocument(top, text, next)
    }
  }

  #bare(frame: CommandFrame, text: string, next: string, name: string): string {
    if (frame.reading !== undefined) refuse('a value cannot be the delimiter of a here-document')
    const first = frame.commandPosition && !frame.wordStarted
    const descriptor = /^\d+$/.test(text) && /^[<>]/.test(next)
    this.startWord(frame)
    const word = this.#inWord(text, '', name)
    return this.#apart(descriptor ? singleQuoted(word) : bareWord(word, first), "''")
  }

  /** A value in a script for another shell is also escaped for its quoting context in that script. */
  #inWord(text: string, next: string, name: string): string {
    const frame = this.command
    if (frame === undefined) return text
    frame.text += text
    const script = this.scriptOf(frame)
    if (script === undefined) return text
    if (!script.settled) refuse('a value cannot follow \\ or $ in a script for another shell')
    script.value(text, next, name, 'data')
    return script.take()
  }

  /** What starts the shell of a script may replace `{}` in it, as find does: the value has no such text. */
  #apart(escaped: string, quotes: string): string {
    if (this.#level === 0) return escaped
    return escaped.replaceAll(/\{(?=\}|$)/g, `{${quotes}`).replace(/^\}/, `${quotes}}`)
  }

  #inBrace(frame: Frame & { kind: 'brace' }, text: string): string {
    if (frame.phase === 'name') refuse('a value cannot be part of the name in ${…}')
    if (text !== '') frame.empty = false
    if (!frame.quoted) return this.#apart(singleQuoted(text), "''")
    if (frame.phase === 'pattern' || frame.murky)
      refuse('a value cannot be in a pattern or in quotes inside "${…}"')
    return insideQuotedBrace(text)
  }

  /** No line of the value may end the here-document, alone or together with the text around it. */
  #inHereDocument(frame: Frame & { kind: 'here-document' }, text: string, next: string): string {
    if (text === '') return ''
    const { delimiter, quoted, strip } = frame.document
    // Inside $(…) bash ends a document at a line that only begins with its delimiter.
    const isInner = this.frames.some((other) => other.kind === 'command' && other.opener === '$(')
    const lines = text.split('\n')
    const before = frame.line
    frame.line = `${lines.length === 1 ? before : ''}${lines.at(-1) ?? ''}\0`
    return lines
      .map((line, index) => {
        const start = index === 0 ? before : ''
        const open = index === lines.length - 1 && next !== '' && !next.startsWith('\n')
        const whole = start + line
        const losesTabs = strip && start === '' && line.startsWith('\t')
        const risky =
          losesTabs ||
          breaksAt(whole, delimiter) ||
          (whole.startsWith(delimiter) && (!quoted || isInner)) ||
          (open ? delimiter.startsWith(whole) : whole === delimiter)
        if (quoted && risky) refuse(`a line of the value could end the here-document ${delimiter}`)
        return quoted ? line : (risky ? GUARD : '') + insideBackquotes(line)
      })
      .join('\n')
  }
}

/**
 * Renders one shell command from pieces of different origins: the author's text is unchanged, everything else is escaped
 * for its quoting context. Throws `UnsafeContextError` if that is not possible, or if a value would become code or an
 * option.
 */
export const renderCommand = (pieces: readonly Piece[]): string => {
  const own = pieces.filter(({ origin }) => origin === 'author').map(({ text }) => text)
  if (own.length === pieces.length) return own.join('')
  const lexer = new ShellLexer({ functions: functionsOf(own.join('\0')) })
  for (const [index, { text, origin, name = 'value' }] of pieces.entries()) {
    if (origin === 'author') lexer.feed(text)
    else lexer.value(text, pieces[index + 1]?.text, name, origin)
  }
  return lexer.finish()
}
