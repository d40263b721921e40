/** The quoting contexts of a position in a shell command, as a stack of frames. */

export interface HereDocument {
  delimiter: string
  /** A quoted delimiter disables all expansions. */
  quoted: boolean
  /** `<<-`: leading tabs are removed. */
  strip: boolean
}

export interface CommandFrame {
  readonly kind: 'command'
  /** The whole command, a subshell, or a substitution. */
  readonly opener: '' | '(' | '$('
  comment: boolean
  wordStarted: boolean
  /** The word so far if it consists of unquoted characters by the author; otherwise undefined. */
  literal: string | undefined
  /** The unquoted characters at the beginning and at the end of the word. */
  head: string
  tail: string
  /** The word is the target of a redirection. */
  redirection: boolean
  /** A keyword or command name may come next. */
  commandPosition: boolean
  lastChar: string
  /**
   * Words of the simple command so far, without redirections. For words that are not plain text: `NAME=` of an
   * assignment, the part of a path from a literal slash on, or `""`.
   */
  readonly words: string[]
  /** Open `case` commands, innermost last. */
  readonly cases: ('subject' | 'in' | 'pattern' | 'body')[]
  /** Pending here-documents, which begin on the next line. A subshell shares them with the enclosing command. */
  readonly hereDocuments: HereDocument[]
  /** The here-document operator whose delimiter is read. */
  reading: (HereDocument & { started: boolean; quote: string }) | undefined
}

/** Text that another shell reads: between backquotes, or in `sh -c '…'`. */
export type Frame<Inner> =
  | CommandFrame
  | { readonly kind: 'single'; readonly script?: Inner }
  | { readonly kind: 'dollar-single' }
  | { readonly kind: 'double'; readonly script?: Inner }
  | {
      readonly kind: 'brace'
      readonly quoted: boolean
      phase: 'name' | 'word' | 'pattern'
      length: number
      murky: boolean
    }
  | { readonly kind: 'arithmetic'; depth: number; closing: boolean }
  | {
      readonly kind: 'backquote'
      readonly inner: Inner
      held: boolean
      raw: string
      readonly quoted: boolean
    }
  | { readonly kind: 'here-document'; readonly document: HereDocument; line: string }

export const commandFrame = (
  opener: CommandFrame['opener'],
  hereDocuments: HereDocument[] = [],
): CommandFrame => ({
  kind: 'command',
  opener,
  comment: false,
  wordStarted: false,
  literal: '',
  head: '',
  tail: '',
  redirection: false,
  commandPosition: true,
  lastChar: '',
  words: [],
  cases: [],
  hereDocuments,
  reading: undefined,
})

const SHELL = /^(.*\/)?(ba|da|z|k|a|mk)?sh$/

/** The next word of this command is a script for another shell: `sh -c …`, `su -c …`, `eval …`, `ssh host …`. */
export const scriptFollows = ({ words, wordStarted }: CommandFrame): boolean => {
  if (wordStarted) return false
  const [first = ''] = words
  const last = words.at(-1) ?? ''
  if (first === 'eval') return true
  if (/^-[A-Za-z]*c$/.test(last)) return words.some((word) => SHELL.test(word) || word === 'su')
  return /^(.*\/)?ssh$/.test(first) && words.length > 1 && !last.startsWith('-')
}
