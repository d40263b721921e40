import { argumentPosition, ASSIGNMENT } from './argument-position.ts'
import { commandFrame, scriptFollows, type CommandFrame, type Frame as FrameOf } from './frames.ts'
import {
  bareWord,
  insideBackquotes,
  insideDouble,
  insideHereDocument,
  insideQuotedBrace,
  insideSingle,
  singleQuoted,
} from './quote.ts'
import { shellWords } from './words.ts'

type Frame = FrameOf<ShellLexer>

/** A value cannot be inserted at this position without changing the meaning of the command. */
export class UnsafeContextError extends Error {
  override readonly name = 'UnsafeContextError'
}

const KEEPS_POSITION = new Set([
  'if',
  'then',
  'else',
  'elif',
  'while',
  'until',
  'do',
  '!',
  '{',
  '}',
  'fi',
  'done',
])

/** dash loses bytes of a line that begins like the delimiter and continues with a non-ASCII character. */
const breaksAt = (line: string, delimiter: string): boolean => {
  let same = 0
  while (same < line.length && line[same] === delimiter[same]) same++
  return same > 0 && (line.codePointAt(same) ?? 0) > 0x7e
}

/** An expansion to an empty text, which keeps a line of a here-document from being its delimiter. */
const GUARD = '${0+}'

/**
 * Reads a shell command character by character to know the quoting context of every position.
 * `feed` takes the author's text, which is unchanged; `value` takes a value, which is escaped
 * for its quoting context. Throws `UnsafeContextError` if no escaping is safe.
 */
export class ShellLexer {
  readonly #frames: Frame[] = [commandFrame('')]
  /** Characters that wait for the next one, which decides their meaning: `\`, `$`, `$(`, `<`, `<<`. */
  #pending = ''
  #out = ''
  /** Why all following positions are refused. */
  #lost = ''
  /** Names of functions that the command defines. How they use their arguments is unknown. */
  readonly #functions: ReadonlySet<string>
  #nesting = 0

  constructor(functions: ReadonlySet<string> = new Set()) {
    this.#functions = functions
  }

  /** The number of nested scripts for which the last value was escaped. */
  get nesting(): number {
    return this.#nesting
  }

  /** The output since the last call. */
  take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }

  /** The remaining output, at the end of the command. */
  finish(): string {
    const top = this.#top()
    this.#out += top.kind === 'backquote' ? top.raw : this.#pending
    this.#pending = ''
    return this.take()
  }

  feed(text: string): void {
    for (const char of text) this.#char(char)
  }

  /** True when no character waits for the next one. */
  get #settled(): boolean {
    const top = this.#top()
    return top.kind === 'backquote' ? top.raw === '' : this.#pending === ''
  }

  #refuse(text: string): void {
    if (text.includes('\0'))
      throw new UnsafeContextError('a value with a NUL character cannot be part of a command')
    if (this.#lost !== '') throw new UnsafeContextError(this.#lost)
  }

  /** `next` is the text after the value. It may turn digits into a file descriptor, or a line into a delimiter. */
  value(text: string, next = ''): void {
    this.#refuse(text)
    this.#nesting = 0
    this.#settle()
    this.#out += this.#escaped(text, next)
  }

  /** A caller's text without a type: split at blanks where the words are arguments of a command, otherwise one word. */
  words(text: string, next = ''): void {
    this.#refuse(text)
    this.#nesting = 0
    this.#settle()
    const top = this.#top()
    if (top.kind === 'backquote') {
      top.inner.words(text, next)
      this.#nesting = top.inner.#nesting
      this.#out += insideBackquotes(top.inner.take())
      return
    }
    if (top.kind !== 'command') return this.value(text, next)
    const splits = argumentPosition(top, this.#functions) === 'plain'
    const vanishes =
      top.commandPosition &&
      !top.wordStarted &&
      !top.redirection &&
      !top.comment &&
      ['body', undefined].includes(top.cases.at(-1))
    if (!splits && !(text === '' && vanishes)) return this.value(text, next)
    const parts = text.split(/[ \t\r\n]+/)
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.#nextWord(top)
      if (part !== '') this.#out += this.#bare(top, part, index === parts.length - 1 ? next : '')
    }
  }

  /** A caller's text of type `args`: its words are arguments of a command; it is refused in all other positions. */
  args(text: string, next = ''): void {
    this.#refuse(text)
    this.#nesting = 0
    this.#settle()
    const top = this.#top()
    if (top.kind === 'backquote') {
      top.inner.args(text, next)
      this.#nesting = top.inner.#nesting
      this.#out += insideBackquotes(top.inner.take())
      return
    }
    if (top.kind !== 'command' || top.wordStarted || argumentPosition(top, this.#functions) === 'none') {
      throw new UnsafeContextError(
        'a value of type args can only be arguments of a command, as a word without quotes: not the command, after NAME=, in a redirection, or after a program that runs its arguments',
      )
    }
    const list = shellWords(text)
    if (list === undefined) throw new UnsafeContextError('a value of type args has an unbalanced quote')
    for (const [index, word] of list.entries()) {
      if (index > 0) this.#nextWord(top)
      this.#out += this.#bare(top, word, index === list.length - 1 ? next : '')
    }
  }

  #nextWord(frame: CommandFrame): void {
    this.#endWord(frame)
    this.#out += ' '
  }

  #top(): Frame {
    return this.#frames.at(-1) ?? commandFrame('')
  }

  /** A value follows: no pending character may combine with it. */
  #settle(): void {
    const pending = this.#pending
    this.#pending = ''
    const top = this.#top()
    if (top.kind === 'backquote') {
      if (top.held) top.inner.feed('\\')
      top.held = false
      top.raw = ''
      return
    }
    if (pending !== '' && 'script' in top && top.script !== undefined) this.#feedScript('$')
    if (pending === '\\') {
      // Unquoted, it would quote the first character, which is quoted anyway; inside quotes it is literal.
      if (top.kind !== 'command' && !(top.kind === 'brace' && !top.quoted)) this.#out += '\\\\'
    } else if (pending === '$') {
      if (top.kind === 'arithmetic') throw new UnsafeContextError('a value cannot name a shell variable')
      this.#out += '\\$'
      if (top.kind === 'command') this.#startWord(top, undefined)
    } else if (pending === '$(') {
      this.#out += pending
      this.#frames.push(commandFrame('$('))
    } else if (pending === '<') {
      this.#out += pending
      this.#redirect(top, '<')
    } else if (pending === '<<') {
      throw new UnsafeContextError('a value cannot be the delimiter of a here-document')
    }
  }

  #escaped(text: string, next: string): string {
    const top = this.#top()
    switch (top.kind) {
      case 'command':
        if (top.reading !== undefined)
          throw new UnsafeContextError('a value cannot be the delimiter of a here-document')
        return top.comment ? text.replaceAll(/[\r\n]/g, ' ') : this.#bare(top, text, next)
      case 'single':
        return insideSingle(this.#inScript(top.script, text, next))
      case 'dollar-single':
        throw new UnsafeContextError(
          'a value cannot be inside $\'…\', which not every shell supports; use "…"',
        )
      case 'double':
        return insideDouble(this.#inScript(top.script, text, next))
      case 'brace':
        return this.#inBrace(top, text)
      case 'arithmetic':
        if (/^-?\d+$/.test(text)) return text
        throw new UnsafeContextError('only a whole number can be inside $((…))')
      case 'backquote':
        top.inner.value(text, next)
        this.#nesting = top.inner.#nesting
        return insideBackquotes(top.inner.take())
      case 'here-document':
        return this.#inHereDocument(top, text, next)
    }
  }

  #bare(frame: CommandFrame, text: string, next: string): string {
    if (frame.reading !== undefined)
      throw new UnsafeContextError('a value cannot be the delimiter of a here-document')
    const first = frame.commandPosition && !frame.wordStarted
    const descriptor = /^\d+$/.test(text) && /^[<>]/.test(next)
    const word = scriptFollows(frame) ? this.#inScript(new ShellLexer(), text, '') : text
    this.#startWord(frame, undefined)
    return descriptor ? singleQuoted(word) : bareWord(word, first)
  }

  /** A value in a nested script is also escaped for its quoting context in that script. */
  #inScript(script: ShellLexer | undefined, text: string, next: string): string {
    if (script === undefined) return text
    if (!script.#settled)
      throw new UnsafeContextError('a value cannot follow \\ or $ in a script for another shell')
    script.value(text, next)
    this.#nesting = script.#nesting + 1
    return script.take()
  }

  /** Feeds the author's text of a nested script to the inner lexer. */
  #feedScript(text: string): void {
    const top = this.#top()
    if ((top.kind !== 'double' && top.kind !== 'single') || top.script === undefined) return
    top.script.feed(text)
    top.script.take()
  }

  #inBrace(frame: Frame & { kind: 'brace' }, text: string): string {
    if (frame.phase === 'name') throw new UnsafeContextError('a value cannot be part of the name in ${…}')
    if (!frame.quoted) return singleQuoted(text)
    if (frame.phase === 'pattern' || frame.murky) {
      throw new UnsafeContextError('a value cannot be in a pattern or in quotes inside "${…}"')
    }
    return insideQuotedBrace(text)
  }

  /** No line of the value may end the here-document, alone or together with the text around it. */
  #inHereDocument(frame: Frame & { kind: 'here-document' }, text: string, next: string): string {
    if (text === '') return ''
    const { delimiter, quoted, strip } = frame.document
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
          (open ? delimiter.startsWith(whole) : whole === delimiter)
        if (quoted && risky)
          throw new UnsafeContextError(`a line of the value could end the here-document ${delimiter}`)
        return quoted ? line : (risky ? GUARD : '') + insideHereDocument(line)
      })
      .join('\n')
  }

  #startWord(frame: CommandFrame, literal: string | undefined): void {
    if (literal === undefined) frame.literal = undefined
    else if (frame.literal !== undefined) frame.literal += literal
    frame.head = frame.literal ?? frame.head
    frame.tail = literal === undefined ? '' : frame.tail + literal
    frame.wordStarted = true
    frame.lastChar = ''
  }

  #noWord(frame: CommandFrame): void {
    frame.wordStarted = false
    frame.literal = ''
    frame.head = ''
    frame.tail = ''
  }

  /** After `<` or `>`; digits before it are a file descriptor. */
  #redirect(frame: Frame, char: string): void {
    if (frame.kind !== 'command') return
    frame.redirection = true
    frame.lastChar = char
  }

  #endWord(frame: CommandFrame): void {
    if (!frame.wordStarted) return
    const { literal: word, head, tail, redirection } = frame
    this.#noWord(frame)
    frame.redirection = false
    if (redirection) return
    frame.words.push(word ?? ASSIGNMENT.exec(head)?.[0] ?? (tail.includes('/') ? tail : ''))
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
    if (frame.commandPosition && word === 'case') frame.cases.push('subject')
    frame.commandPosition = frame.commandPosition && word !== undefined && KEEPS_POSITION.has(word)
    if (frame.commandPosition) frame.words.length = 0
  }

  #emit(char: string): void {
    this.#out += char
  }

  #char(char: string): void {
    const top = this.#top()
    if (top.kind === 'backquote') return this.#inBackquote(top, char)
    if (this.#pending !== '') return this.#afterPending(char)
    switch (top.kind) {
      case 'command':
        return this.#inCommand(top, char)
      case 'single':
        this.#emit(char)
        if (char === "'") this.#frames.pop()
        else this.#feedScript(char)
        return
      case 'dollar-single':
        if (char === '\\') this.#pending = '\\'
        else this.#emit(char)
        if (char === "'") this.#frames.pop()
        return
      case 'double':
        if (this.#expansion(char, true)) return
        this.#emit(char)
        if (char === '"') this.#frames.pop()
        else this.#feedScript(char)
        return
      case 'brace':
        return this.#inBraceChar(top, char)
      case 'arithmetic':
        return this.#inArithmetic(top, char)
      case 'here-document':
        return this.#inHereDocumentChar(top, char)
    }
  }

  /** Openings of expansions, shared by all contexts that have them. */
  #expansion(char: string, quoted: boolean): boolean {
    if (char === '\\' || char === '$') {
      this.#pending = char
      return true
    }
    if (char !== '`') return false
    this.#feedScript('x')
    this.#emit(char)
    this.#frames.push({
      kind: 'backquote',
      inner: new ShellLexer(this.#functions),
      held: false,
      raw: '',
      quoted,
    })
    return true
  }

  #afterPending(char: string): void {
    const pending = this.#pending
    const top = this.#top()
    this.#pending = ''
    if (pending === '\\') {
      this.#emit(pending + char)
      // A backslash before a line break joins the lines.
      if (top.kind === 'command' && char !== '\n') this.#startWord(top, undefined)
      if (top.kind === 'here-document') top.line += `\\${char}`
      this.#feedScript('$`"\\'.includes(char) ? char : char === '\n' ? '' : `\\${char}`)
      return
    }
    if (pending === '$') return this.#afterDollar(char)
    if (pending === '$(') {
      this.#emit(pending)
      if (char === '(') {
        this.#emit(char)
        this.#frames.push({ kind: 'arithmetic', depth: 0, closing: false })
        return
      }
      this.#frames.push(commandFrame('$('))
      return this.#char(char)
    }
    if (pending === '<' && char === '<') {
      this.#pending = '<<'
      return
    }
    this.#emit(pending)
    if (pending === '<' || char === '<') this.#redirect(top, '<')
    if (pending === '<<' && char === '<') return this.#emit(char)
    if (pending === '<<' && top.kind === 'command') {
      top.reading = { delimiter: '', quoted: false, strip: char === '-', started: false, quote: '' }
      if (char === '-') return this.#emit(char)
    }
    this.#char(char)
  }

  #afterDollar(char: string): void {
    const top = this.#top()
    const quoted = top.kind === 'brace' ? top.quoted : top.kind !== 'command'
    if (top.kind === 'command') this.#startWord(top, undefined)
    if (top.kind === 'here-document') top.line += '$'
    this.#feedScript(/[A-Za-z0-9_@*#?$!({-]/.test(char) ? 'x' : '$')
    if (char === '(') {
      this.#pending = '$('
    } else if (char === '{') {
      this.#emit('${')
      this.#frames.push({ kind: 'brace', quoted, phase: 'name', length: 0, murky: false })
    } else if (char === "'" && top.kind === 'command') {
      this.#emit("$'")
      this.#frames.push({ kind: 'dollar-single' })
    } else if (char === '[' && top.kind !== 'arithmetic') {
      this.#lost = 'a value cannot be inside or after $[…], which bash evaluates'
      this.#emit('$')
      this.#char(char)
    } else if (/[A-Za-z0-9_@*#?$!-]/.test(char)) {
      this.#emit(`$${char}`)
    } else {
      this.#emit('$')
      this.#char(char)
    }
  }

  #inCommand(frame: CommandFrame, char: string): void {
    if (frame.reading !== undefined && this.#inDelimiter(frame, frame.reading, char)) return
    if (frame.comment) {
      this.#emit(char)
      if (char !== '\n') return
      frame.comment = false
      this.#newline(frame)
      return
    }
    if (char === '\\' || char === '$' || char === '`') {
      if (char === '`') this.#startWord(frame, undefined)
      this.#expansion(char, false)
      return
    }
    if (char === '<') {
      if (/^\d+$/.test(frame.literal ?? '')) this.#noWord(frame)
      this.#endWord(frame)
      this.#pending = char
      return
    }
    this.#emit(char)
    if (char === "'" || char === '"') {
      const script = scriptFollows(frame) ? new ShellLexer() : undefined
      this.#startWord(frame, undefined)
      this.#frames.push({
        kind: char === '"' ? 'double' : 'single',
        ...(script === undefined ? {} : { script }),
      })
    } else if (char === '#' && !frame.wordStarted) frame.comment = true
    else if (char === ' ' || char === '\t') this.#blank(frame)
    else if (char === '\n') this.#newline(frame)
    else if (';&|()>'.includes(char)) this.#operator(frame, char)
    else this.#startWord(frame, char)
  }

  #blank(frame: CommandFrame): void {
    this.#endWord(frame)
    frame.lastChar = ''
  }

  #newline(frame: CommandFrame): void {
    this.#endWord(frame)
    frame.redirection = false
    frame.commandPosition = true
    frame.words.length = 0
    frame.lastChar = '\n'
    if (
      this.#frames.some(
        (other) =>
          other.kind === 'command' &&
          other.opener !== frame.opener &&
          other.hereDocuments !== frame.hereDocuments &&
          other.hereDocuments.length > 0,
      )
    ) {
      this.#lost = 'a value cannot follow a line break inside $(…) on the line of a here-document'
    }
    const next = frame.hereDocuments.shift()
    if (next !== undefined) this.#frames.push({ kind: 'here-document', document: next, line: '' })
  }

  #operator(frame: CommandFrame, char: string): void {
    const before = frame.lastChar
    if (char === '>' && /^\d+$/.test(frame.literal ?? '')) this.#noWord(frame)
    this.#endWord(frame)
    frame.lastChar = char
    const state = frame.cases.at(-1)
    const redirected = before === '>' || before === '<'
    if (char === '>' || (redirected && (char === '&' || char === '|'))) return this.#redirect(frame, char)
    if (char === '(' && redirected) {
      frame.redirection = false
      this.#startWord(frame, undefined)
      this.#frames.push(commandFrame('(', frame.hereDocuments))
      return
    }
    frame.redirection = false
    frame.commandPosition = true
    frame.words.length = 0
    if (char === '(' && before === '(' && frame.opener === '(') {
      this.#lost = 'a value cannot be inside or after ((…)), which some shells evaluate'
    }
    if (char === ';' && before === ';' && state === 'body') frame.cases[frame.cases.length - 1] = 'pattern'
    else if (char === ')' && state === 'pattern') frame.cases[frame.cases.length - 1] = 'body'
    else if (char === ')' && frame.opener !== '') this.#close(frame)
    else if (char === '(' && state !== 'pattern') {
      const inner = commandFrame('(', frame.hereDocuments)
      inner.lastChar = frame.wordStarted ? '' : '('
      this.#frames.push(inner)
    }
  }

  #close(frame: CommandFrame): void {
    this.#frames.pop()
    if (frame.reading !== undefined || (frame.opener === '$(' && frame.hereDocuments.length > 0)) {
      this.#lost = 'a value cannot follow a here-document that its $(…) does not contain'
    }
  }

  /** Reads the delimiter after `<<`. True while the character belongs to it. */
  #inDelimiter(frame: CommandFrame, reading: NonNullable<CommandFrame['reading']>, char: string): boolean {
    if (reading.quote === '' && !reading.started && (char === ' ' || char === '\t')) {
      this.#emit(char)
      return true
    }
    if (reading.quote === '' && /[\s;&|<>()]/.test(char)) {
      const { delimiter, quoted, strip } = reading
      if (reading.started) frame.hereDocuments.push({ delimiter, quoted, strip })
      frame.reading = undefined
      return false
    }
    this.#emit(char)
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

  #inBraceChar(frame: Frame & { kind: 'brace' }, char: string): void {
    if (char === '}') {
      this.#emit(char)
      this.#frames.pop()
      return
    }
    if (frame.phase === 'name') {
      this.#emit(char)
      frame.length++
      if (frame.length === 1 || /[A-Za-z0-9_:]/.test(char)) return
      frame.phase = '-=?+'.includes(char) ? 'word' : 'pattern'
      return
    }
    if (this.#expansion(char, frame.quoted)) return
    this.#emit(char)
    if (char !== "'" && char !== '"') return
    if (frame.quoted) frame.murky = true
    else this.#frames.push({ kind: char === '"' ? 'double' : 'single' })
  }

  #inArithmetic(frame: Frame & { kind: 'arithmetic' }, char: string): void {
    if (this.#expansion(char, true)) return
    this.#emit(char)
    if (char === '(') frame.depth++
    else if (char === ')' && frame.depth > 0) frame.depth--
    else if (char === ')' && frame.closing) this.#frames.pop()
    else frame.closing = char === ')'
  }

  #inHereDocumentChar(frame: Frame & { kind: 'here-document' }, char: string): void {
    const { document } = frame
    if (char === '\n') {
      this.#emit(char)
      const ended = frame.line === document.delimiter
      frame.line = ''
      if (!ended) return
      this.#frames.pop()
      const command = this.#top()
      if (command.kind !== 'command') return
      const next = command.hereDocuments.shift()
      if (next !== undefined) this.#frames.push({ kind: 'here-document', document: next, line: '' })
      return
    }
    if (!document.quoted && this.#expansion(char, true)) {
      if (char === '`') frame.line += char
      return
    }
    this.#emit(char)
    if (!(document.strip && char === '\t' && frame.line === '')) frame.line += char
  }

  #inBackquote(frame: Frame & { kind: 'backquote' }, char: string): void {
    if (!frame.held && char === '`') {
      this.#out += `${frame.raw}${char}`
      this.#frames.pop()
      return
    }
    frame.raw += char
    if (!frame.held && char === '\\') {
      frame.held = true
      return
    }
    const taken = frame.held && (['\\', '$', '`'].includes(char) || (frame.quoted && char === '"'))
    frame.inner.feed(frame.held && !taken ? `\\${char}` : char)
    frame.held = false
    if (!frame.inner.#settled) return
    // The author's text is written unchanged, not re-escaped.
    this.#out += frame.raw
    frame.raw = ''
    frame.inner.take()
  }
}
