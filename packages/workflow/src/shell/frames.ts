/** What a place in a shell command is inside of. */

export interface HereDocument {
  delimiter: string
  /** A quoted delimiter switches every expansion off. */
  quoted: boolean
  /** `<<-`: leading tabs are dropped. */
  strip: boolean
}

export interface CommandFrame {
  readonly kind: 'command'
  /** The whole command, a subshell, or a substitution. */
  readonly opener: '' | '(' | '$('
  comment: boolean
  wordStarted: boolean
  /** The word so far while it is nothing but unquoted letters of the author; `undefined` for any other. */
  literal: string | undefined
  /** The unquoted letters that the word begins with, and those behind everything else in it. */
  head: string
  tail: string
  /** The word names what an input or output is redirected to. */
  redirection: boolean
  /** A keyword or command name may come next. */
  commandPosition: boolean
  lastChar: string
  /**
   * Words of the simple command so far, without redirections. Of those that are not plain text: `NAME=` of an
   * assignment, the end of a path from a plain slash on, or `""`.
   */
  readonly words: string[]
  /** Open `case` commands, innermost last. */
  readonly cases: ('subject' | 'in' | 'pattern' | 'body')[]
  /** Announced, and to be read from the next line on; a subshell shares those of the command around it. */
  readonly hereDocuments: HereDocument[]
  /** The here-document operator whose delimiter is being read. */
  reading: (HereDocument & { started: boolean; quote: string }) | undefined
}

/** `Inner` follows text that another shell will read: between backquotes, or in `sh -c '…'`. */
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
