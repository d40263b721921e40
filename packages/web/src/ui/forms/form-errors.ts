import { createContext } from 'react'
import { ApiError } from '../../api/client.ts'

interface FormState {
  /** Of the last call of the form. */
  readonly error: unknown
  /** The fields of the form, which show what concerns them. */
  readonly names: Set<string>
}

export const FormErrors = createContext<FormState>({ error: undefined, names: new Set() })

const concerns = (path: string, name: string): boolean => {
  const plain = path.replace(/^\//, '').replaceAll('/', '.')
  return plain === name || plain.startsWith(`${name}.`)
}

/** What the API says about one field: `name` or a path below it, `targets` for `targets/0` and `/targets.0`. */
export const problemOf = (error: unknown, name: string): string | undefined =>
  error instanceof ApiError ? error.details.find(({ path }) => concerns(path, name))?.message : undefined

/** What an error says besides the fields, so that each problem is shown once. */
export const panelTexts = (error: unknown, form: FormState): { text: string; others: readonly string[] } => {
  const text = error instanceof Error ? error.message : String(error)
  if (!(error instanceof ApiError) || error.details.length === 0) return { text, others: [] }
  const names = form.error === error ? [...form.names] : []
  const atFields = names.filter((name) => problemOf(error, name) !== undefined)
  const isAtField = (path: string) => atFields.some((name) => concerns(path, name))
  const others = error.details
    .filter(({ path, message }) => !text.includes(message) && !isAtField(path))
    .map(({ path, message }) => `${path.replace(/^\//, '').replaceAll(/[/_]/g, ' ')} ${message}`.trim())
  // Most messages repeat the first detail.
  const repeats = error.details.some(({ path, message }) => text.includes(message) && isAtField(path))
  const short = atFields.length === 1 ? 'One field is not valid.' : 'Some fields are not valid.'
  return { text: repeats ? short : text, others }
}
