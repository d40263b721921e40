import { AppError, FINDING_STATES, type FieldError, type FindingState } from '@scanfarm/contracts'
import { SORTED_RECORDS, type Store } from '@scanfarm/store'
import { Type } from 'typebox'
import { WORDS } from '../http/word-list.ts'
import { refuse } from '../http/refusal.ts'

/** The value of a query parameter with an alias; throws if both have different values. */
export const aliased = <T extends string, K extends string>(
  query: Readonly<Partial<Record<K, T>>>,
  name: K,
  alias: K,
): T | undefined => {
  const value = query[name]
  const other = query[alias]
  if (value !== undefined && other !== undefined && value !== other)
    throw new AppError('invalid_input', `${alias}: is an alias of ${name} but has another value`, {
      details: [{ path: `/${alias}`, message: `is an alias of ${name}: send only one of them` }],
    })
  return value ?? other
}

/** Maximum length of a list. */
const MAX_LIST_LENGTH = 8192

/** A query parameter with a list. */
export const List = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_LIST_LENGTH, description }))

/** A query parameter with a list of words from a fixed set, which `wordsOf` reads. */
export const WordList = (words: readonly string[], description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_LIST_LENGTH, description, [WORDS]: words }))

export const Host = Type.Optional(
  Type.String({ maxLength: 255, description: 'Name or address of the host, ignoring case' }),
)

/** A query parameter that sorts a list. */
export const Sort = <N extends string>(names: readonly N[]) =>
  Type.Optional(
    Type.Enum([...names, ...names.map((name): `-${N}` => `-${name}`)], {
      description: `Default: newest first. With a minus in reverse. Other orders than severity and priority, the worst first, sort at most ${SORTED_RECORDS} records`,
    }),
  )

/** The values of `a, b`; undefined if there are none. */
export const commaList = (text: string | undefined): string[] | undefined => {
  const values = (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length === 0 ? undefined : [...new Set(values)]
}

/** Like `commaList`, for names that may contain commas: the whole text is one of the values. */
export const nameList = (text: string | undefined): string[] | undefined => {
  const values = commaList(text)
  return values === undefined || text === undefined ? values : [...new Set([text, ...values])]
}

/** Values of a fixed set, ignoring case; throws for other values. */
export const wordsOf = <W extends string>(
  name: string,
  text: string | undefined,
  words: readonly W[],
): W[] | undefined => {
  const wrong: FieldError[] = []
  const found = commaList(text)?.flatMap((value) => {
    const word = words.find((one) => one.toLowerCase() === value.toLowerCase())
    if (word === undefined) wrong.push({ path: `/${name}`, message: `must be one of ${words.join(', ')}` })
    return word === undefined ? [] : [word]
  })
  refuse(wrong.slice(0, 1))
  return found
}

/** Of findings and assets. All states are no filter. */
export const stateOf = (text: string | undefined): FindingState | undefined => {
  const states = wordsOf('state', text, FINDING_STATES)
  return states?.length === 1 ? states[0] : undefined
}

const MAX_ID = 2 ** 31 - 1

/** The row id in a path; 0, which no row has, for other texts. */
export const rowId = (text: string, most = MAX_ID): number =>
  /^[1-9][0-9]{0,15}$/.test(text) && Number(text) <= most ? Number(text) : 0

/** Like `rowId` for 64-bit ids, as far as a number is exact. */
export const longRowId = (text: string): number => rowId(text, Number.MAX_SAFE_INTEGER)

/** A time as text, RFC 3339 or seconds since 1970; throws for other text. */
export const timeOf = (path: string, text: string, or = ''): Date => {
  const date = new Date(/^\d{1,12}$/.test(text) ? Number(text) * 1000 : text)
  if (Number.isNaN(date.getTime()) || !/^\d{1,12}$|^\d{4}-\d\d-\d\d/.test(text))
    refuse([
      { path, message: `must be a time, for example 2026-01-31T12:00:00Z, or seconds since 1970${or}` },
    ])
  return date
}

/** Of findings and assets. */
export const NewSince = Type.Optional(
  Type.String({
    description:
      'Found, or found again, after this time (RFC 3339, or seconds since 1970) or after the end of the job with this id',
  }),
)
export const newSinceOf = async (
  { jobs }: Pick<Store, 'jobs'>,
  text: string | undefined,
): Promise<Date | undefined> => {
  if (text === undefined || text === '') return undefined
  const path = '/new_since'
  if (!/^[0-9a-f]{16}$/.test(text)) return timeOf(path, text, ', or the id of a job')
  const end = await jobs.endOf(text)
  if (end === undefined) refuse([{ path, message: `there is no job ${text}; see GET /jobs` }])
  if (end === null) refuse([{ path, message: `job ${text} has not ended: wait for its end` }])
  return end ?? undefined
}
