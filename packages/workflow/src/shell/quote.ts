/** Escapes of POSIX sh, one for each place that a value can stand in. */

/** Words that mean something to the shell when they stand unquoted. */
const RESERVED = new Set(
  'if then else elif fi do done case esac while until for in function select time coproc'.split(' '),
)

/** Characters that mean nothing to the shell anywhere in a word. */
const PLAIN = /^[A-Za-z0-9_@%+:./-]+$/

export const singleQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** One word, whatever is in it. `first`: it may be taken for a command name, a keyword or an assignment. */
export const bareWord = (text: string, first: boolean): string => {
  const plain = PLAIN.test(text) && !RESERVED.has(text) && (!first || text.includes('/'))
  return plain ? text : singleQuoted(text)
}

export const insideDouble = (text: string): string => text.replaceAll(/[\\"$`]/g, String.raw`\$&`)

export const insideSingle = (text: string): string => text.replaceAll("'", String.raw`'\''`)

/** Inside `"${name:-…}"` a brace ends the expansion, too. */
export const insideQuotedBrace = (text: string): string => text.replaceAll(/[\\"$`}]/g, String.raw`\$&`)

export const insideHereDocument = (text: string): string => text.replaceAll(/[\\$`]/g, String.raw`\$&`)

/** Backquotes take one level of backslashes away before the shell reads what is between them. */
export const insideBackquotes = (text: string): string => text.replaceAll(/[\\$`]/g, String.raw`\$&`)
