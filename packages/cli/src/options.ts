import { InvalidArgumentError } from 'commander'

/** For options that may be given again. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** `name=value`, given again for each parameter. */
export const collectParam = (
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> => {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('must have the form name=value')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1')
  return Number(text)
}
