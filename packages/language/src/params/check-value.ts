import type { Param } from '../model.ts'
import { PARAM_TYPES } from '../read/workflow-spec.ts'
import { shellWords } from '../shell/words.ts'

const SHOWN_CHARS = 60
const TRUE = new Set(['true', '1'])
const FALSE = new Set(['false', '0'])

const shown = (text: string): string =>
  JSON.stringify(text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`)

/** The effective type: unknown types, which files of other systems have, are ignored. */
export const typeOf = ({ type }: Pick<Param, 'type'>): Param['type'] =>
  PARAM_TYPES.find((known) => known === type)

export const booleanOf = (text: string): boolean | undefined => {
  const word = text.trim().toLowerCase()
  if (TRUE.has(word)) return true
  return FALSE.has(word) ? false : undefined
}

const rangeText = ({ min, max }: Param): string => {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return `, ${min} or more`
  return max === undefined ? '' : `, ${max} or less`
}

const isWhole = ({ min, max }: Param, text: string): boolean =>
  /^-?\d{1,15}$/.test(text) &&
  !(min !== undefined && Number(text) < min) &&
  !(max !== undefined && Number(text) > max)

const choiceProblem = ({ choices, multiple = false }: Param, text: string): string | undefined => {
  // The checker reports missing choices.
  const allowed = Array.isArray(choices) ? choices : []
  const chosen = multiple ? text.split(',') : [text]
  if (chosen.every((one) => allowed.includes(one))) return undefined
  return `one of ${allowed.join(', ')}${multiple ? ', or several of them with commas between them' : ''}`
}

/** What the type of the param expects, or undefined if the text is valid. */
const expected = (param: Param, text: string): string | undefined => {
  switch (typeOf(param)) {
    case 'int':
      return isWhole(param, text) ? undefined : `a whole number${rangeText(param)}`
    case 'bool':
      return booleanOf(text) === undefined ? 'true or false' : undefined
    case 'choice':
      return choiceProblem(param, text)
    case 'path':
      return text === '' || text.startsWith('-') || /\p{Cc}/u.test(text)
        ? 'a path, not empty, without control characters, and not beginning with "-" (write ./-name)'
        : undefined
    case 'args':
      return shellWords(text) === undefined
        ? 'arguments as in a shell: every quote must be closed, and \\ must have a character behind it'
        : undefined
    default:
      return undefined
  }
}

/** Why the text is not a valid value of the param, or undefined. The message names the given and the expected value. */
export const valueProblem = (param: Param, text: string): string | undefined => {
  const wanted = expected(param, text)
  return wanted === undefined ? undefined : `${shown(text)} does not fit: expected ${wanted}`
}
