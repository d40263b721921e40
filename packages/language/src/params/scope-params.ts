import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Param } from '../model.ts'

/** Names of params that only affect speed, unless the workflow sets `scope: true`. */
const SPEED = /^(.+_)?(threads|rate|rate_limit|concurrency|timeout|delay|retries)$/
/** Params that every workflow has and that only set the number of threads. */
const SYSTEM = new Set(['tactic', 'threads_hold'])

/**
 * The params that define the scope of a run. Only runs with the same scope are compared to find gone records. A value
 * that equals the default is left out.
 */
export const scopeParams = (
  { root, modules }: ResolvedWorkflow,
  given: Readonly<Record<string, string>>,
): Record<string, string> => {
  const declared = Map.groupBy(
    [root, ...Object.values(modules)].flatMap(({ params = [] }) => params),
    ({ name }) => name,
  )
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => {
      const params = declared.get(name) ?? []
      if (params.some(({ scope }) => scope === true)) return !isDefault(params[0], value)
      if (SYSTEM.has(name) || params.some(({ scope }) => scope === false)) return false
      return !SPEED.test(name) && !isDefault(params[0], value)
    }),
  )
}

/** The first declaration wins: a flow comes before its modules. */
const isDefault = (param: Param | undefined, value: string): boolean => {
  const known = param?.default ?? param?.value
  return known !== undefined && typeof known !== 'object' && String(known) === value
}
