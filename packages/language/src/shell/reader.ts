import { endWord, noWord, readDelimiter } from './command-words.ts'
import { CommandReader } from './command-reader.ts'
import { CommandFrame, type Frame } from './frames.ts'

/** Reads a shell command character by character. The author's text is unchanged in the output. */
export abstract class ShellReader extends CommandReader {
  override feed(text: string): void {
    for (const char of text) this.#char(char)
  }

  /** True when no character waits for the next one. */
  override get settled(): boolean {
    const { top } = this
    return top.kind === 'backquote' ? top.raw === '' : this.pending === ''
  }

  protected openSubstitution(): void {
    this.out += '$('
    this.frames.push(new CommandFrame('$('))
  }

  #char(char: string): void {
    const { top } = this
    if (top.kind === 'backquote') return this.#inBackquote(top, char)
    this.inName &&= /\w/.test(char)
    if (this.pending !== '') return this.#afterPending(char)
    switch (top.kind) {
      case 'command':
        return this.#inCommand(top, char)
      case 'dollar-single':
        if (char === '\\') this.pending = '\\'
        else this.emit(char)
        if (char === "'") this.frames.pop()
        return
      case 'single':
      case 'double':
        if (top.kind === 'double' && this.#expansion(char, true)) return
        this.emit(char)
        if (char !== (top.kind === 'double' ? '"' : "'")) this.wordText(char)
        else this.frames.pop()
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
      this.pending = char
      return true
    }
    if (char !== '`') return false
    this.expansion()
    this.emit(char)
    this.frames.push({ kind: 'backquote', inner: this.nested(), isEscaped: false, raw: '', quoted })
    return true
  }

  #afterPending(char: string): void {
    const { pending, top } = this
    this.pending = ''
    if (pending === '\\') {
      this.emit(pending + char)
      if (top.kind === 'here-document') top.line += `\\${char}`
      // A backslash before a line break joins the lines.
      if (char === '\n') return
      if (top.kind === 'command') this.startWord(top)
      this.wordText(top.kind === 'command' || '$`"\\'.includes(char) ? char : `\\${char}`)
      return
    }
    if (pending === '$') return this.#afterDollar(char)
    if (pending === '$(') {
      if (char !== '(') {
        this.openSubstitution()
        return this.#char(char)
      }
      this.emit(pending + char)
      this.frames.push({ kind: 'arithmetic', depth: 0, closing: false })
      return
    }
    if (pending === '<' && char === '<') {
      this.pending = '<<'
      return
    }
    this.emit(pending)
    if (pending === '<' || char === '<') this.redirect(top, '<')
    if (pending === '<<' && char === '<') {
      if (top.kind === 'command') top.redirection = 'text'
      return this.emit(char)
    }
    if (pending === '<<' && top.kind === 'command') {
      top.reading = { delimiter: '', quoted: false, strip: char === '-', started: false, quote: '' }
      if (char === '-') return this.emit(char)
    }
    this.#char(char)
  }

  #afterDollar(char: string): void {
    const { top } = this
    const quoted = top.kind === 'brace' ? top.quoted : top.kind !== 'command'
    const expands = /[A-Za-z0-9_@*#?$!({-]/.test(char)
    if (top.kind === 'command') this.startWord(top)
    if (top.kind === 'here-document') top.line += '$'
    if (expands) this.expansion()
    else if (!(char === "'" && top.kind === 'command')) this.wordText('$')
    if (char === '(') {
      this.pending = '$('
    } else if (char === '{') {
      this.emit('${')
      this.frames.push({ kind: 'brace', quoted, phase: 'name', length: 0, empty: true, murky: false })
    } else if (char === "'" && top.kind === 'command') {
      this.emit("$'")
      this.expansion()
      this.frames.push({ kind: 'dollar-single' })
    } else if (char === '[' && top.kind !== 'arithmetic') {
      this.lost = 'a value cannot be inside or after $[…], which bash evaluates'
      this.emit('$')
      this.#char(char)
    } else if (expands) {
      this.inName = /[A-Za-z_]/.test(char)
      this.emit(`$${char}`)
    } else {
      this.emit('$')
      this.#char(char)
    }
  }

  #inCommand(frame: CommandFrame<CommandReader>, char: string): void {
    if (frame.reading !== undefined && readDelimiter(frame, frame.reading, char)) return this.emit(char)
    if (frame.comment) {
      this.emit(char)
      if (char !== '\n') return
      frame.comment = false
      this.newline(frame)
      return
    }
    if (char === '\\' || char === '$' || char === '`') {
      if (char === '`') this.startWord(frame)
      this.#expansion(char, false)
      return
    }
    if (char === '<') {
      if (/^\d+$/.test(frame.literal ?? '')) noWord(frame)
      endWord(frame)
      this.pending = char
      return
    }
    this.emit(char)
    if (char === "'" || char === '"') {
      this.startWord(frame)
      this.frames.push({ kind: char === '"' ? 'double' : 'single' })
    } else if (char === '#' && !frame.wordStarted) frame.comment = true
    else if (char === ' ' || char === '\t') {
      endWord(frame)
      frame.lastChar = ''
    } else if (char === '\n') this.newline(frame)
    else if (';&|()>'.includes(char)) this.operator(frame, char)
    else this.startWord(frame, char)
  }

  #inBraceChar(frame: Frame<CommandReader> & { kind: 'brace' }, char: string): void {
    if (char === '}') {
      this.emit(char)
      this.frames.pop()
      return
    }
    if (frame.phase === 'name') {
      this.emit(char)
      frame.length++
      if (frame.length === 1 || /[A-Za-z0-9_:]/.test(char)) return
      frame.phase = '-=?+'.includes(char) ? 'word' : 'pattern'
      return
    }
    if (this.#expansion(char, frame.quoted)) return
    this.emit(char)
    if (char !== "'" && char !== '"') frame.empty = false
    else if (frame.quoted) frame.murky = true
    else this.frames.push({ kind: char === '"' ? 'double' : 'single' })
  }

  #inArithmetic(frame: Frame<CommandReader> & { kind: 'arithmetic' }, char: string): void {
    if (this.#expansion(char, true)) return
    this.emit(char)
    if (char === '(') frame.depth++
    else if (char === ')' && frame.depth > 0) frame.depth--
    else if (char === ')' && frame.closing) this.frames.pop()
    else frame.closing = char === ')'
  }

  #inHereDocumentChar(frame: Frame<CommandReader> & { kind: 'here-document' }, char: string): void {
    const { document } = frame
    if (char === '\n') {
      this.emit(char)
      const ended = frame.line === document.delimiter
      frame.line = ''
      if (!ended) return
      this.frames.pop()
      const command = this.top
      if (command.kind !== 'command') return
      const next = command.hereDocuments.shift()
      if (next !== undefined) this.frames.push({ kind: 'here-document', document: next, line: '' })
      return
    }
    if (!document.quoted && this.#expansion(char, true)) {
      if (char === '`') frame.line += char
      return
    }
    this.emit(char)
    if (!(document.strip && char === '\t' && frame.line === '')) frame.line += char
  }

  #inBackquote(frame: Frame<CommandReader> & { kind: 'backquote' }, char: string): void {
    if (!frame.isEscaped && char === '`') {
      frame.inner.end()
      this.out += `${frame.raw}${char}`
      this.frames.pop()
      return
    }
    frame.raw += char
    if (!frame.isEscaped && char === '\\') {
      frame.isEscaped = true
      return
    }
    const taken = frame.isEscaped && (['\\', '$', '`'].includes(char) || (frame.quoted && char === '"'))
    frame.inner.feed(frame.isEscaped && !taken ? `\\${char}` : char)
    frame.isEscaped = false
    if (!frame.inner.settled) return
    // The author's text is written unchanged, not re-escaped.
    this.out += frame.raw
    frame.raw = ''
    frame.inner.take()
  }
}
