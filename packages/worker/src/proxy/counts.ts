import { plural } from '@scanfarm/contracts'

/** What a proxy has counted. */
export interface Metered {
  readonly requests: number
  readonly tunnels: number
  readonly bytes: number
  readonly refused: number
}

/** For the log of a run; "" if nothing was asked for. */
export const meteredText = (before: Metered, now: Metered): string =>
  (['request', 'tunnel', 'byte'] as const)
    .map((what) => [now[`${what}s`] - before[`${what}s`], what] as const)
    .filter(([count]) => count > 0)
    .map(([count, what]) => plural(count, what))
    .join(', ')
