import type { Origin } from '../template/value.ts'
import { endWord, extendWord, noWord } from './command-words.ts'
import { CommandFrame, type CodeContext, type Frame } from './frames.ts'
import { inputContext, scriptFollows } from './programs.ts'

/** What a lexer knows about a shell command: its open constructs, and the words of the commands in them. */
export abstract class CommandReader {
  protected readonly frames: Frame<CommandReader>[] = [new CommandFrame('')]
  /** Characters that wait for the next one, which decides their meaning: `\`, `$`, `$(`, `<`, `<<`. */
  protected pending = ''
  protected out = ''
  /** The name of a variable may continue here: `$na▮`. */
  protected inName = false
  /** Why all following positions are refused. */
  protected lost = ''

  abstract feed(text: string): void
  /** True when no character waits for the next one. */
  abstract get settled(): boolean
  /** Escapes a value at the current position. */
  abstract value(text: string, next: string, name: string, origin: Origin): void
  /** A reader for text that another shell reads. */
  protected abstract nested(): CommandReader
  /** The value with this name becomes code. */
  protected abstract code(context: CodeContext, name: string, text: string): void

  /** The output since the last call. */
  take(): string {
    const { out } = this
    this.out = ''
    return out
  }

  /** The command ends here, and with it all its parts. */
  end(): void {
    for (const frame of this.frames.toReversed()) {
      if (frame.kind === 'backquote') frame.inner.end()
      if (frame.kind !== 'command') continue
      endWord(frame)
      this.#endCommand(frame)
    }
  }

  get isInDoubleQuotes(): boolean {
    return this.top.kind === 'double'
  }

  protected get top(): Frame<CommandReader> {
    return this.frames.at(-1) ?? new CommandFrame('')
  }

  /** The command whose current word has the current position, outside of expansions. */
  protected get command(): CommandFrame<CommandReader> | undefined {
    const { top } = this
    const frame = top.kind === 'single' || top.kind === 'double' ? this.frames.at(-2) : top
    return frame?.kind === 'command' ? frame : undefined
  }

  /** Reads the script that a command passes to another shell with the current word. */
  protected scriptOf(frame: CommandFrame<CommandReader> | undefined): CommandReader | undefined {
    return frame?.redirection === '' && frame.wordStarted ? frame.script : undefined
  }

  #feedScript(text: string): void {
    const script = this.scriptOf(this.command)
    script?.feed(text)
    script?.take()
  }

  protected expansion(): void {
    if (this.command !== undefined) this.command.text += '\0'
    this.#feedScript('x')
  }

  /** Text of the current word as its command gets it. */
  protected wordText(text: string): void {
    const frame = this.command
    if (frame !== undefined && !this.inName) frame.text += text
    this.#feedScript(text)
  }

  protected startWord(frame: CommandFrame<CommandReader>, literal?: string): void {
    if (!frame.wordStarted && frame.redirection === '') {
      const follows = scriptFollows(frame.words)
      if (!follows) frame.script?.end()
      const script = follows ? (frame.script ?? this.nested()) : undefined
      // The words of eval and ssh are parts of one script.
      if (script === frame.script) script?.feed(' ')
      script?.take()
      frame.script = script
    }
    extendWord(frame, literal)
    if (literal !== undefined) this.wordText(literal)
  }

  /** After `<` or `>`; digits before it are a file descriptor. */
  protected redirect(frame: Frame<CommandReader>, char: string): void {
    if (frame.kind !== 'command') return
    frame.redirection = 'file'
    frame.lastChar = char
  }

  /** `isPiped`: its output is the input of the next command. */
  #endCommand(frame: CommandFrame<CommandReader>, isPiped = false): void {
    frame.script?.end()
    frame.script = undefined
    const context = inputContext(frame.words)
    if (context !== undefined) {
      if (frame.before !== undefined) this.code(context, frame.before, ' ')
      for (const document of frame.documents) document.reader = context
    }
    frame.before = isPiped ? (frame.before ?? frame.own) : undefined
    frame.own = undefined
    if (!isPiped) frame.documents.length = 0
    frame.words.length = 0
  }

  protected emit(char: string): void {
    this.out += char
  }

  protected newline(frame: CommandFrame<CommandReader>): void {
    endWord(frame)
    this.#endCommand(frame)
    frame.redirection = ''
    frame.commandPosition = true
    frame.lastChar = '\n'
    const waiting = this.frames.flatMap((other) => (other.kind === 'command' ? [other.hereDocuments] : []))
    if (waiting.some((documents) => documents !== frame.hereDocuments && documents.length > 0))
      this.lost = 'a value cannot follow a line break inside $(…) on the line of a here-document'
    const next = frame.hereDocuments.shift()
    if (next !== undefined) this.frames.push({ kind: 'here-document', document: next, line: '' })
  }

  protected operator(frame: CommandFrame<CommandReader>, char: string): void {
    const before = frame.lastChar
    if (char === '>' && /^\d+$/.test(frame.literal ?? '')) noWord(frame)
    if (char === '(' && /^[A-Za-z_]\w*\+?=$/.test(frame.literal ?? '')) {
      this.startWord(frame)
      this.frames.push(new CommandFrame('array', frame.hereDocuments))
      return
    }
    endWord(frame)
    frame.lastChar = char
    const state = frame.cases.at(-1)
    const redirected = before === '>' || before === '<'
    if (char === '>' && before === '&') frame.words.push(...frame.sent)
    if (char === '>' || (redirected && (char === '&' || char === '|'))) return this.redirect(frame, char)
    if (char === '(' && redirected) {
      frame.redirection = ''
      this.startWord(frame)
      this.frames.push(new CommandFrame('(', frame.hereDocuments))
      return
    }
    frame.redirection = ''
    frame.commandPosition = true
    frame.sent = [...frame.words]
    if (char === '(') frame.words.length = 0
    else if (!(before === '|' && char === '&')) this.#endCommand(frame, char === '|' && before !== '|')
    if (char === '(' && before === '(' && frame.opener === '(') {
      this.lost = 'a value cannot be inside or after ((…)), which some shells evaluate'
    }
    if (char === ';' && before === ';' && state === 'body') frame.cases[frame.cases.length - 1] = 'pattern'
    else if (char === ')' && state === 'pattern') frame.cases[frame.cases.length - 1] = 'body'
    else if (char === ')' && frame.opener !== '') this.#close(frame)
    else if (char === '(' && state !== 'pattern') {
      const inner = new CommandFrame<CommandReader>('(', frame.hereDocuments)
      inner.lastChar = frame.wordStarted ? '' : '('
      this.frames.push(inner)
    }
  }

  #close(frame: CommandFrame<CommandReader>): void {
    this.frames.pop()
    if (frame.reading !== undefined || (frame.opener === '$(' && frame.hereDocuments.length > 0)) {
      this.lost = 'a value cannot follow a here-document that its $(…) does not contain'
    }
  }
}
