import { green, red } from '@scanfarm/cli/demo'

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'µs' | '/s'
  /** The limit of this machine for the same work, measured in the same run. Same unit as the figure. */
  readonly limit?: { readonly what: string; readonly value: number }
  readonly goal?: Goal
}

/** `ratio` is value / limit. */
interface Goal {
  readonly of: 'value' | 'ratio'
  readonly at: 'least' | 'most'
  readonly bound: number
}

export const atMost = (bound: number, of: Goal['of'] = 'value'): Goal => ({ of, at: 'most', bound })
export const atLeast = (bound: number, of: Goal['of'] = 'value'): Goal => ({ of, at: 'least', bound })

export const ratioOf = ({ value, limit }: Figure): number | undefined => limit && value / limit.value

/** Undefined: the figure has no goal. */
export function isMet(figure: Figure): boolean | undefined {
  const { goal } = figure
  const measured = goal?.of === 'ratio' ? ratioOf(figure) : figure.value
  if (!goal || measured === undefined) return undefined
  return goal.at === 'most' ? measured <= goal.bound : measured >= goal.bound
}

const number = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

export const HEAD = ['figure', 'measured', 'limit of this machine', 'ratio', 'goal', 'verdict']

export const rowOf = (figure: Figure): string[] => {
  const { name, value, unit, limit, goal } = figure
  const met = isMet(figure)
  const sign = goal?.at === 'most' ? '≤' : '≥'
  return [
    name,
    `${number(value)} ${unit}`,
    limit ? `${number(limit.value)} ${unit} ${limit.what}` : '',
    ratioOf(figure)?.toFixed(2) ?? '',
    goal ? `${sign} ${goal.of === 'ratio' ? `${goal.bound}×` : `${number(goal.bound)} ${unit}`}` : '',
    met === undefined ? '' : met ? green('ok') : red('missed'),
  ]
}
