import { messageOf } from '../fault.ts'
import { ownNames, SCRIPT_GLOBALS } from '../check/names.ts'
import { prepareProgram } from '../expression/source.ts'
import { FUNCTIONS } from '../functions/registry.ts'
import type { Trigger } from '../model.ts'
import { parseTemplate } from '../template/parse.ts'
import { callProblem } from './functions.ts'
import { readInput, withHyphens, type Input } from './input.ts'

const callsOf = (source: string): string[] => [...prepareProgram(withHyphens(source)).calls.keys()]

/** A call of a function that neither the language nor the program defines. */
const unknownCall = (source: string): string | undefined => {
  const { calls, code } = prepareProgram(withHyphens(source))
  const own = ownNames(code)
  const name = [...calls.keys()].find(
    (one) => !FUNCTIONS.has(one) && !own.has(one) && !SCRIPT_GLOBALS.has(one),
  )
  return name === undefined ? undefined : `there is no function "${name}"`
}

const reading = (work: () => string | undefined): string | undefined => {
  try {
    return work()
  } catch (error) {
    return messageOf(error)
  }
}

/** Why a filter can never be true, or undefined. */
export const filterProblem = (source: string): string | undefined =>
  reading(() =>
    callsOf(source)
      .map(callProblem)
      .find((problem) => problem !== undefined),
  )

/** Why a template of a trigger cannot be read, or undefined. */
export const templateProblem = (template: string): string | undefined =>
  reading(() => {
    parseTemplate(withHyphens(template))
    return undefined
  })

/** Why an input can never have a value, or undefined. */
export const inputProblem = (written: string): string | undefined => {
  const input = readInput(written)
  if (input.kind === 'expression') return filterProblem(input.source)
  return input.kind === 'template' ? templateProblem(input.text) : undefined
}

const EVENT_FIELDS = 'topic name source id data_type data workspace run_uuid workflow_name timestamp'.split(
  ' ',
)

const unknownField = (input: Input): string | undefined =>
  input.kind === 'field' && !EVENT_FIELDS.includes(input.name)
    ? `no event has this field, so that the input is ""; there are ${EVENT_FIELDS.map((name) => `event.${name}`).join(', ')}`
    : undefined

const SHOWN_CHARS = 60
const shown = (text: string): string =>
  JSON.stringify(text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`)

/** What is wrong with the expressions of a trigger, with the place of each below it. */
export const expressionProblems = ({
  event = {},
  input = {},
}: Pick<Trigger, 'event' | 'input'>): {
  readonly path: readonly (string | number)[]
  readonly message: string
}[] => {
  const found: { path: readonly (string | number)[]; message: string }[] = []
  const note = (path: readonly (string | number)[], text: string, problem: string | undefined): void => {
    if (problem !== undefined) found.push({ path, message: `${shown(text)}: ${problem}` })
  }
  for (const key of ['filters', 'filter_functions'] as const)
    for (const [index, filter] of (event[key] ?? []).entries())
      note(['event', key, index], filter, filterProblem(filter) ?? unknownCall(filter))
  const { dedupe_key: dedupe } = event
  if (dedupe !== undefined) note(['event', 'dedupe_key'], dedupe, templateProblem(dedupe))
  for (const [name, value] of Object.entries(input)) {
    if (typeof value !== 'string') continue
    const read = readInput(value)
    const isCode = read.kind === 'expression' || (name === 'function' && input['type'] === 'function')
    const source = read.kind === 'expression' ? read.source : value
    const problem = isCode
      ? (filterProblem(source) ?? unknownCall(source))
      : (inputProblem(value) ?? unknownField(read))
    note(['input', name], value, problem)
  }
  return found
}
