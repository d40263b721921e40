import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Param } from '../model.ts'

/** Names of params that say how fast a workflow works, unless the workflow says `scope: true`. */
const SPEED = /^(.+_)?(threads|rate|rate_limit|concurrency|timeout|delay|retries)$/
/** Params that every workflow obeys, and that only change how many threads it has. */
const SYSTEM = new Set(['tactic', 'threads_hold'])

/**
 * The params of a run that say what it looks at: only runs with the same ones are compared to see what is gone. A value
 * that is the default counts as none.
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

/** The first declaration counts: that of a flow goes before those of its modules. */
const isDefault = (param: Param | undefined, value: string): boolean => {
  const known = param?.default ?? param?.value
  return known !== undefined && typeof known !== 'object' && String(known) === value
}
