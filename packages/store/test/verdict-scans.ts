import type { Severity } from '@scanfarm/contracts'
import type { Modelled, ModelScan } from './verdict-model.ts'

export const diceOf = (seed: number) => {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return {
    chance: (part: number): boolean => next() < part,
    one: <T>(values: readonly [T, ...T[]]): T => values[Math.floor(next() * values.length)] ?? values[0],
  }
}
export type Dice = ReturnType<typeof diceOf>

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
const HOSTS = ['h0', 'h1', 'h2', 'h3', 'h4'] as const
/** Modules that scan, with the modules before each. `scripts` tests every third check, the others all. */
export const BEFORE: Readonly<Record<string, readonly string[]>> = {
  web: ['ports'],
  scripts: [],
  deep: ['ports', 'web'],
}
export const FLOW = {
  workflow: {
    hash: 'hash-of-histories',
    json: JSON.stringify({
      format: 1,
      root: {
        modules: [
          { name: 'ports' },
          { name: 'web', depends_on: ['ports'] },
          { name: 'scripts' },
          { name: 'deep', depends_on: ['web'] },
        ],
      },
      modules: {},
    }),
  },
}
/** How the steps of a module ended. */
export type End = 'well' | 'failed' | 'failed before its import' | 'removed' | 'with untested places'

export const scopeName = (module: string, filter: boolean): string => `${module}${filter ? ' filtered' : ''}`

/** What a module tests of the findings, and so sees if they exist. */
const tested = (
  dice: Dice,
  findings: readonly Modelled[],
  { module, filter }: Pick<Wanted, 'module' | 'filter'>,
  reached: ReadonlySet<string> | undefined,
): Map<string, { severity: Severity; tags: string[] }> => {
  const sees = new Map<string, { severity: Severity; tags: string[] }>()
  for (const [n, { name, host, exists }] of findings.entries()) {
    const severity = dice.one(SEVERITIES)
    const isSevere = severity === 'critical' || severity === 'high'
    if (!exists || (module === 'scripts' && n % 3 > 0) || (filter && !isSevere)) continue
    if (reached?.has(host) ?? true) sees.set(name, { severity, tags: dice.chance(0.5) ? ['scan'] : [] })
  }
  return sees
}

interface Wanted {
  readonly module: string
  /** It only sees severe findings. */
  readonly filter: boolean
  readonly ends: ReadonlyMap<string, End>
  /** Whether the step that imported is recorded. */
  readonly isRecorded: boolean
}

/** A scan does not see what it did not test. */
export const scanOf = (dice: Dice, findings: readonly Modelled[], wanted: Wanted): ModelScan => {
  const { module, filter, ends, isRecorded } = wanted
  const end = ends.get(module) ?? 'well'
  const reached = dice.chance(0.3) ? new Set([...HOSTS].filter(() => dice.chance(0.6))) : undefined
  const untested = new Set<string>(
    end === 'with untested places' ? ['h0:80', dice.one(HOSTS), `${dice.one(HOSTS)}:81`] : [],
  )
  const silent = new Set<string>(
    end !== 'removed' && end !== 'failed before its import' && dice.chance(0.3)
      ? [dice.one(HOSTS), `${dice.one(HOSTS)}:80`, `${dice.one(HOSTS)}:81`]
      : [],
  )
  const crashed = new Set<string>(
    dice.chance(0.2) ? findings.slice(0, 20).map((f) => `${f.name} at ${f.host}:${f.port}`) : [],
  )
  const sees = tested(dice, findings, wanted, reached)
  for (const { name, host, port } of findings) {
    const endpoint = `${host}:${port}`
    const places = [host, endpoint]
    const isTested =
      !places.some((place) => untested.has(place) || silent.has(place)) &&
      !crashed.has(`${name} at ${endpoint}`)
    if (!isTested || (end === 'failed' && dice.chance(0.5))) sees.delete(name)
  }
  const before = BEFORE[module] ?? []
  const isWell = (other: string) =>
    ['well', 'with untested places', 'removed'].includes(ends.get(other) ?? '')
  return {
    scope: scopeName(module, filter),
    module,
    hasImport: end !== 'removed' && end !== 'failed before its import',
    isComplete: isRecorded && [module, ...before].every(isWell),
    reached,
    untested,
    silent,
    crashed,
    sees,
  }
}
