import type { FieldError } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { refuse } from '../http/field-refusal.ts'

/** Most characters of a list. */
const MAX_LIST_LENGTH = 8192

/** Query parameter with a list. */
export const List = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_LIST_LENGTH, description }))

/** `a, b` as its values; undefined when there is none. */
export const commaList = (text: string | undefined): string[] | undefined => {
  const values = (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length === 0 ? undefined : [...new Set(values)]
}

/** The same for names that may hold commas themselves: the whole text is one of the values. */
export const nameList = (text: string | undefined): string[] | undefined => {
  const values = commaList(text)
  return values === undefined || text === undefined ? values : [...new Set([text, ...values])]
}

/** Values of a closed set, in upper or lower case; refused when one is not in it. */
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
