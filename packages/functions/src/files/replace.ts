import { local, NoResult, type FunctionDefinition, type Run } from '../define.ts'
import { mustBeFile, programPath, writeLines } from './files.ts'
import { linesOf, MAX_LINE } from './lines.ts'
import { patternOf } from '../text/pattern.ts'

interface Substitution {
  readonly old: string
  readonly by: string
  readonly all: boolean
}

/** The offset of the next unescaped delimiter, or the end. */
const endOfPart = (text: string, delimiter: string, from: number): number => {
  let at = from
  while (at < text.length && text[at] !== delimiter) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** Parses `s/old/new/g` with any delimiter, which a backslash escapes. */
const substitution = (text: string): Substitution => {
  const [, delimiter = ''] = /^s([^\w\s\\])/.exec(text) ?? []
  const end = endOfPart(text, delimiter, 2)
  if (delimiter === '' || end >= text.length)
    throw new NoResult(`"${text}" is not s/old/new/; sed_unix takes other expressions of sed`)
  const last = endOfPart(text, delimiter, end + 1)
  const plain = (part: string): string => part.replaceAll(`\\${delimiter}`, () => delimiter)
  return {
    old: plain(text.slice(2, end)),
    by: plain(text.slice(end + 1, last)),
    all: text.slice(last + 1).includes('g'),
  }
}

const literal = ({ old, by, all }: Substitution) => {
  const replace = (line: string): string =>
    all ? line.replaceAll(old, () => by) : line.replace(old, () => by)
  return (line: string): string => {
    if (by.length * (line.length + 1) <= MAX_LINE || !line.includes(old)) return replace(line)
    throw new Error('a line would become too long; use sed in a bash step')
  }
}

const byPattern = ({ old, by, all }: Substitution) => {
  const pattern = patternOf(old)
  return (line: string): string => pattern.replace(line, by, all)
}

const replacing =
  (compile: (how: Substitution) => (line: string) => string): Run =>
  async (at) => {
    const source = at.path(1)
    const dest = await programPath(at, at.text(2) === '' ? 1 : 2, 'write')
    const change = compile(substitution(at.text(0).trim()))
    await mustBeFile(source, at)
    const lines = async function* () {
      for await (const line of linesOf(source, at)) yield change(line)
    }
    await writeLines(dest, lines(), at)
  }

/** Replacements in the lines of a file, in the syntax of sed. */
export const REPLACE_FUNCTIONS: readonly FunctionDefinition[] = [
  local(
    'sed_string_replace(expression, source, dest?): bool',
    'Replaces a text in each line, the first occurrence or with `g` all: `s/old/new/g`. In place without dest; false if the source does not exist.',
    replacing(literal),
  ),
  local(
    'sed_regex_replace(expression, source, dest?): bool',
    'The same for a regular expression: `s/([0-9]+)/<$1>/g`, with `$1` or `${1}` for a group.',
    replacing(byPattern),
  ),
]
