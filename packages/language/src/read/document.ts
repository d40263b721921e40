import { isNode, LineCounter, parseDocument, type Document, type YAMLParseError } from 'yaml'
import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import type { Workflow } from '../model.ts'
import type { Problem } from '../problem.ts'
import { ProblemList } from '../problem-list.ts'
import { Reader } from './reader.ts'
import { indexDocument } from './document-index.ts'
import { withDefaults } from './defaults.ts'
import { workflowSpec } from './workflow-spec.ts'

export interface Position {
  readonly line: number
  readonly column: number
}

/** A position inside a text value. In the file its lines may be indented and its characters escaped. */
export interface Inside {
  readonly text: string
  readonly offset: number
}

/** Finds the position of a path like `['steps', 2, 'command']`, or of its nearest parent. */
export type Locate = (path: readonly (string | number)[], inside?: Inside) => Position

export interface ReadFile {
  readonly file: string
  /** Undefined if the file could not be parsed at all. */
  readonly workflow: Workflow | undefined
  readonly problems: readonly Problem[]
  readonly locate: Locate
  /** Further problems of the file are added here. */
  readonly list: ProblemList
}

const KIND_LINE = /^kind:[ \t]*["']?(module|flow)["']?[ \t\r]*(#.*)?$/m
/** JSON, or YAML in flow style. */
const IN_BRACES = /^\uFEFF?(?:---[ \t]*\r?\n|[ \t]*(?:#.*)?\r?\n)*[ \t]*\{/
const KIND_FIELD = /[{,\s](["']?)kind\1[ \t]*:[ \t]*(["']?)(?:module|flow)\2[ \t]*(?:[,}\r\n]|#|$)/

/** Whether a file is meant to be a workflow; other files in the same folders are ignored. */
export const looksLikeWorkflow = (text: string): boolean =>
  KIND_LINE.test(text) || (IN_BRACES.test(text) && KIND_FIELD.test(text))

const refusal = (text: string, limits: ReadLimits): { rule: string; message: string } | undefined => {
  if (Buffer.byteLength(text) > limits.fileBytes) {
    return { rule: 'too-big', message: `The file is larger than ${limits.fileBytes} bytes.` }
  }
  if (/[\0\uFFFD]/.test(text)) {
    return { rule: 'not-text', message: 'This is not a text file in UTF-8.' }
  }
  return undefined
}

/** Number of characters by which a position inside a text is found in the file. */
const MAX_SNIPPET = 12

/** The offset in `written` of the same occurrence of the same characters; 0 if they do not occur. */
const distance = (written: string, { text, offset }: Inside): number => {
  const snippet = /^[^\n]*/.exec(text.slice(offset, offset + MAX_SNIPPET))?.[0] ?? ''
  if (snippet === '') return 0
  let at = -1
  for (let known = text.indexOf(snippet); known !== -1 && known <= offset;) {
    at = written.indexOf(snippet, at + 1)
    if (at === -1) return 0
    known = text.indexOf(snippet, known + 1)
  }
  return Math.max(0, at)
}

const locator =
  (document: Document.Parsed, lines: LineCounter, source: string): Locate =>
  (path, inside) => {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) {
        const [from, to] = node.range
        const here = inside !== undefined && length === path.length
        const { line, col } = lines.linePos(from + (here ? distance(source.slice(from, to), inside) : 0))
        return { line, column: col }
      }
    }
    return { line: 1, column: 1 }
  }

/** Message of the YAML library for a stack overflow. */
const STACK_OVERFLOW = 'Maximum call stack size exceeded'

const tooDeep = ({ depth }: ReadLimits): Omit<Problem, 'file' | 'line' | 'column'> => ({
  rule: 'too-big',
  severity: 'error',
  message: `The file is nested deeper than ${depth} levels.`,
  hint: '',
})

const ONE_WORKFLOW = 'The file has several documents; put each workflow into its own file'
const UNEXPECTED = 'UNEXPECTED_TOKEN'
const QUOTE_IT =
  'Put the whole value into quotes: it begins with a quote, { or [ and continues after its end.'

/** After the first misplaced token, all further ones are consequences. */
const withoutEchoes = (errors: readonly YAMLParseError[]): YAMLParseError[] => {
  const first = errors.findIndex(({ code }) => code === UNEXPECTED)
  return errors.filter(({ code }, index) => index <= first || code !== UNEXPECTED)
}

/** Reads one workflow. Never throws: `problems` has all errors with their positions. */
export const readWorkflow = (text: string, file: string, limits: ReadLimits = READ_LIMITS): ReadFile => {
  const refused = refusal(text, limits)
  if (refused !== undefined) {
    return unreadable(file, [{ file, line: 1, column: 1, severity: 'error', hint: '', ...refused }], limits)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: true,
    prettyErrors: false,
    stringKeys: false,
    uniqueKeys: false,
  })
  const parseError = (offset: number, text: string, hint = ''): Problem => {
    const { line, col } = lines.linePos(offset)
    if (text === STACK_OVERFLOW) return { ...tooDeep(limits), file, line, column: col }
    const message = `YAML parse error: ${text}`
    return { file, line, column: col, rule: 'parse-error', severity: 'error', message, hint }
  }
  const broken = withoutEchoes(document.errors).map((error) =>
    parseError(
      error.pos[0],
      error.code === 'MULTIPLE_DOCS' ? ONE_WORKFLOW : error.message,
      error.code === UNEXPECTED ? QUOTE_IT : '',
    ),
  )
  if (broken.length > 0) return unreadable(file, broken, limits)
  const { targets, duplicates } = indexDocument(document)
  if (duplicates.length > 0) {
    const places = duplicates.map(({ range }) => range?.[0] ?? 0).sort((a, b) => a - b)
    const repeated = places.map((offset) => parseError(offset, 'Map keys must be unique'))
    return unreadable(file, repeated, limits)
  }
  const list = new ProblemList(limits.problems)
  const reader = new Reader({ file, document, lines, limits, targets, list })
  const fields = reader.read(workflowSpec)
  const workflow = fields === undefined ? undefined : withDefaults(fields as Partial<Workflow>)
  return { file, workflow, problems: [...list.problems], locate: locator(document, lines, text), list }
}

const nowhere: Locate = () => ({ line: 1, column: 1 })

const unreadable = (file: string, problems: readonly Problem[], limits: ReadLimits): ReadFile => {
  const list = new ProblemList(limits.problems)
  for (const { severity, hint, ...problem } of problems) list.add(severity, hint, () => problem)
  return { file, workflow: undefined, problems: [...list.problems], locate: nowhere, list }
}
