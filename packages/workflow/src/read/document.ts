import { isNode, LineCounter, parseDocument, type Document, type YAMLParseError } from 'yaml'
import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import type { Workflow } from '../model.ts'
import type { Problem } from '../problem.ts'
import { Reader } from './reader.ts'
import { withDefaults } from './defaults.ts'
import { workflowSpec } from './workflow-spec.ts'

export interface Place {
  readonly line: number
  readonly column: number
}

/** A place inside of a text that stands in the file, where its lines may be indented and its characters escaped. */
export interface Inside {
  readonly text: string
  readonly offset: number
}

/** Finds where something is written, by its path such as `['steps', 2, 'command']`; the nearest parent otherwise. */
export type Locate = (path: readonly (string | number)[], inside?: Inside) => Place

export interface ReadFile {
  readonly file: string
  /** Missing when the file could not be understood at all. */
  readonly workflow: Workflow | undefined
  readonly problems: readonly Problem[]
  readonly locate: Locate
}

const KIND_LINE = /^kind:[ \t]*["']?(module|flow)["']?[ \t\r]*(#.*)?$/m

/** True for files that mean to be a workflow; others in the same folders are none of our business. */
export const looksLikeWorkflow = (text: string): boolean => KIND_LINE.test(text)

const refusal = (text: string, limits: ReadLimits): { rule: string; message: string } | undefined => {
  if (Buffer.byteLength(text) > limits.fileBytes) {
    return { rule: 'too-big', message: `The file is larger than ${limits.fileBytes} bytes.` }
  }
  if (/[\0\uFFFD]/.test(text)) {
    return { rule: 'not-text', message: 'This is not a text file in UTF-8.' }
  }
  return undefined
}

/** Characters by which a place inside of a text is found again in the file. */
const MAX_SNIPPET = 12

/** How far into `written` the place is: where the same characters come for the same time. 0 when they do not. */
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

const UNEXPECTED = 'UNEXPECTED_TOKEN'
const QUOTE_IT =
  'A value that begins with a quote, { or [ and goes on behind its end is put into quotes as a whole.'

/** Behind the first thing that has no place there, everything else seems to have none. */
const withoutEchoes = (errors: readonly YAMLParseError[]): YAMLParseError[] => {
  const first = errors.findIndex(({ code }) => code === UNEXPECTED)
  return errors.filter(({ code }, index) => index <= first || code !== UNEXPECTED)
}

/** Reads one workflow. Never throws: what is wrong is in `problems`, each with its place. */
export const readWorkflow = (text: string, file: string, limits: ReadLimits = READ_LIMITS): ReadFile => {
  const refused = refusal(text, limits)
  const nowhere: Locate = () => ({ line: 1, column: 1 })
  if (refused !== undefined) {
    const problem: Problem = { file, line: 1, column: 1, severity: 'error', hint: '', ...refused }
    return { file, workflow: undefined, problems: [problem], locate: nowhere }
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: true,
    prettyErrors: false,
    stringKeys: false,
  })
  const broken = withoutEchoes(document.errors).map((error): Problem => {
    const { line, col } = lines.linePos(error.pos[0])
    const message = `YAML parse error: ${error.message}`
    const hint = error.code === UNEXPECTED ? QUOTE_IT : ''
    return { file, line, column: col, rule: 'parse-error', severity: 'error', message, hint }
  })
  if (broken.length > 0) {
    return { file, workflow: undefined, problems: broken.slice(0, limits.problems), locate: nowhere }
  }
  const reader = new Reader(file, document, lines, limits)
  const fields = reader.read(workflowSpec)
  const workflow = fields === undefined ? undefined : withDefaults(fields as Partial<Workflow>)
  return { file, workflow, problems: reader.problems, locate: locator(document, lines, text) }
}
