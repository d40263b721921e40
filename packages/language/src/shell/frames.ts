/** What reads a value as code. */
export interface CodeContext {
  readonly description: string
  /** Values are reported by the checker and not refused. */
  readonly warns?: true
  /** Otherwise harmless characters that are delimiters of the code. */
  readonly delimiters?: string
}

export interface HereDocument {
  delimiter: string
  /** A quoted delimiter disables all expansions. */
  quoted: boolean
  /** `<<-`: leading tabs are removed. */
  strip: boolean
  /** The interpreter that reads it as code. */
  reader?: CodeContext
}

export class CommandFrame<Inner> {
  readonly kind = 'command'
  comment = false
  wordStarted = false
  /** The word so far if it consists of unquoted characters by the author; otherwise undefined. */
  literal: string | undefined = ''
  /** The word so far as its command gets it, with NUL for each expansion. */
  text = ''
  /** The word is the target of a redirection, or of `<<<`. */
  redirection: '' | 'file' | 'text' = ''
  /** A keyword or command name may come next. */
  commandPosition: boolean
  lastChar = ''
  /** Words of the simple command so far, like `text`, without redirections. */
  readonly words: string[] = []
  /** Those of the command before `&`, which bash continues after `&>`. */
  sent: readonly string[] = []
  /** Reads the script that the current word is a part of. */
  script: Inner | undefined
  /** Names of values that commands may print: those of the pipeline before the current command, and its own. */
  before: string | undefined
  own: string | undefined
  /** Here-documents of the pipeline. */
  readonly documents: HereDocument[] = []
  /** The values of each open `{`, `if` or loop. */
  readonly groups: (string | undefined)[] = []
  /** Open `case` commands, innermost last. */
  readonly cases: ('subject' | 'in' | 'pattern' | 'body')[] = []
  /** The here-document operator whose delimiter is read. */
  reading: Delimiter | undefined
  /** The whole command, a subshell, a substitution, or the words of an array. */
  readonly opener: '' | '(' | '$(' | 'array'
  /** Pending here-documents, which begin on the next line. A subshell shares them with the enclosing command. */
  readonly hereDocuments: HereDocument[]

  constructor(opener: CommandFrame<Inner>['opener'], hereDocuments: HereDocument[] = []) {
    this.opener = opener
    this.hereDocuments = hereDocuments
    this.commandPosition = opener !== 'array'
  }

  /** Whether the current word is one of a command: not of a comment, a redirection or the patterns of `case`. */
  get isCommandWord(): boolean {
    return !this.comment && this.redirection === '' && ['body', undefined].includes(this.cases.at(-1))
  }
}

export type Delimiter = HereDocument & { started: boolean; quote: string }

/** A quoting context in a shell command. Those of a position are a stack. */
export type Frame<Inner> =
  | CommandFrame<Inner>
  | { readonly kind: 'single' }
  | { readonly kind: 'dollar-single' }
  | { readonly kind: 'double' }
  | {
      readonly kind: 'brace'
      readonly quoted: boolean
      phase: 'name' | 'word' | 'pattern'
      length: number
      /** Its word has no character yet. */
      empty: boolean
      murky: boolean
    }
  | { readonly kind: 'arithmetic'; depth: number; closing: boolean }
  | {
      readonly kind: 'backquote'
      readonly inner: Inner
      isEscaped: boolean
      raw: string
      readonly quoted: boolean
    }
  | { readonly kind: 'here-document'; readonly document: HereDocument; line: string }
