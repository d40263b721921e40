/** Escaping for POSIX sh, one function for each quoting context. */

/** Reserved words of the shell. */
const RESERVED = new Set(
  'if then else elif fi do done case esac while until for in function select time coproc'.split(' '),
)

/** Characters without a special meaning anywhere in a word. */
const PLAIN = /^[A-Za-z0-9_@%+:./-]+$/

export const insideSingle = (text: string): string => text.replaceAll("'", String.raw`'\''`)

export const singleQuoted = (text: string): string => `'${insideSingle(text)}'`

/** Quotes a text as one word. `first`: it may be read as a command name, a keyword or an assignment. */
export const bareWord = (text: string, first: boolean): string => {
  const plain = PLAIN.test(text) && !RESERVED.has(text) && (!first || text.includes('/'))
  return plain ? text : singleQuoted(text)
}

export const insideDouble = (text: string): string => text.replaceAll(/[\\"$`]/g, String.raw`\$&`)

/** Inside `"${name:-…}"` a brace also ends the expansion, and bash pairs single quotes and reads `<(` and `>(` as code. */
export const insideQuotedBrace = (text: string): string =>
  text
    .replaceAll(/[\\"$`}]/g, String.raw`\$&`)
    .replaceAll("'", String.raw`$(printf \\047)`)
    .replaceAll(/[<>]|^\(/g, (char) => (char === '(' ? '""(' : `${char}""`))

/** Backquotes remove one level of backslashes before the shell reads their content; here-documents keep quotes. */
export const insideBackquotes = (text: string): string => text.replaceAll(/[\\$`]/g, String.raw`\$&`)

/**
 * Inside `"`…`"` a backslash also escapes a quote. Bash expands braces before, and takes a quote in it for the end of the
 * outer ones: what is in quotes there counts as unquoted. `quoted`: the text is in double quotes within the backquotes.
 */
export const insideQuotedBackquotes = (text: string, quoted: boolean): string => {
  const escaped = insideBackquotes(text).replaceAll('"', String.raw`\"`)
  if (!quoted) return escaped
  return escaped.replaceAll(
    /(\\\$\{0\+\})|[{},'<>]|\.(?=\.)/g,
    (char, guard?: string) => guard ?? `"\\${char}"`,
  )
}
