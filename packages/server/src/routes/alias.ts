import { AppError } from '@scanfarm/contracts'

/** The value of a query parameter that has a second name; both with different values contradict each other. */
export const aliased = <T extends string, K extends string>(
  query: Readonly<Partial<Record<K, T>>>,
  name: K,
  alias: K,
): T | undefined => {
  const value = query[name]
  const other = query[alias]
  if (value !== undefined && other !== undefined && value !== other)
    throw new AppError('invalid_input', `${alias}: is another name for ${name} and has another value`, {
      details: [{ path: `/${alias}`, message: `is another name for ${name}: send one of them` }],
    })
  return value ?? other
}
