import { messageOf } from '../error.ts'
import { KEYWORDS, SCRIPT_GLOBALS } from '../check/names.ts'
import { prepareProgram } from '../expression/source.ts'
import type { FunctionTable } from '../function-table.ts'
import type { Trigger, Workflow } from '../model.ts'
import { parseTemplate } from '../template/parse.ts'
import { readInput, withHyphens, type Input } from './input.ts'

const callsOf = (source: string): string[] => [...prepareProgram(withHyphens(source)).calls.keys()]

/** Why a trigger cannot call a function, or undefined. */
export const callProblem = (name: string, functions: FunctionTable): string | undefined => {
  const known = functions.get(name)
  return known !== undefined && known.inTriggers === undefined
    ? `"${name}" cannot be called by a trigger, which is evaluated on the server and not in a run: functions of texts, URLs and JSON and those that read files can; call this one in a step`
    : undefined
}

/** The first call of a function that neither Scanfarm nor the expression defines. */
const unknownCall = (source: string, functions: FunctionTable): string | undefined => {
  const { calls, own } = prepareProgram(withHyphens(source))
  const name = [...calls.keys()].find(
    (one) => ![functions, own, KEYWORDS, SCRIPT_GLOBALS].some((known) => known.has(one)),
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

/** Why a filter is invalid, or undefined. */
export const filterProblem = (source: string, functions: FunctionTable): string | undefined =>
  reading(() =>
    callsOf(source)
      .map((name) => callProblem(name, functions))
      .find((problem) => problem !== undefined),
  )

/** Why a template of a trigger is invalid, or undefined. */
export const templateProblem = (template: string): string | undefined =>
  reading(() => {
    parseTemplate(withHyphens(template))
    return undefined
  })

/** Why an input is invalid, or undefined. */
export const inputProblem = (written: string, functions: FunctionTable): string | undefined => {
  const input = readInput(written, functions)
  if (input.kind === 'expression') return filterProblem(input.source, functions)
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

/** Problems of the expressions of a trigger, with the path of each below the trigger. */
export const expressionProblems = (
  { event = {}, input = {} }: Pick<Trigger, 'event' | 'input'>,
  functions: FunctionTable,
): {
  readonly path: readonly (string | number)[]
  readonly message: string
}[] => {
  const found: { path: readonly (string | number)[]; message: string }[] = []
  const note = (path: readonly (string | number)[], text: string, problem: string | undefined): void => {
    if (problem !== undefined) found.push({ path, message: `${shown(text)}: ${problem}` })
  }
  for (const key of ['filters', 'filter_functions'] as const)
    for (const [index, filter] of (event[key] ?? []).entries())
      note(['event', key, index], filter, filterProblem(filter, functions) ?? unknownCall(filter, functions))
  const { dedupe_key: dedupe } = event
  if (dedupe !== undefined) note(['event', 'dedupe_key'], dedupe, templateProblem(dedupe))
  for (const [name, value] of Object.entries(input)) {
    if (typeof value !== 'string') continue
    const read = readInput(value, functions)
    const isCode = read.kind === 'expression' || (name === 'function' && input['type'] === 'function')
    const source = read.kind === 'expression' ? read.source : value
    const problem = isCode
      ? (filterProblem(source, functions) ?? unknownCall(source, functions))
      : (inputProblem(value, functions) ?? unknownField(read))
    note(['input', name], value, problem)
  }
  return found
}

/**
 * Why the workflow cannot be started by hand, or undefined if it can. A manual trigger with `enabled: false` refuses it;
 * events and schedules still start the workflow.
 */
export const manualRefusal = ({ name, kind, triggers = [] }: Workflow): string | undefined => {
  const gates = triggers.filter(({ on }) => on === 'manual')
  if (gates.length === 0 || gates.some(({ enabled }) => enabled !== false)) return undefined
  return `Manual trigger is disabled for this ${kind}: the workflow "${name}" starts by its other triggers only; set enabled: true on its manual trigger to start it by hand`
}
