import { bold, green, red } from '@scanfarm/cli/demo'

export const PARTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const
export type Part = (typeof PARTS)[number]

export type Unit = 'ms' | 'µs' | '/s' | 'MiB' | '%'

/** The limit of this machine for the same work, measured in the same run. Same unit as the figure. */
export interface Limit {
  readonly what: string
  readonly value: number
}

/** `ratio` is value / limit. */
export interface Target {
  readonly of: 'value' | 'ratio'
  readonly at: 'least' | 'most'
  readonly bound: number
}

export interface Figure {
  readonly part: Part
  readonly name: string
  readonly value: number
  readonly unit: Unit
  readonly limit?: Limit
  readonly target?: Target
}

export const atMost = (bound: number, of: Target['of'] = 'value'): Target => ({ of, at: 'most', bound })
export const atLeast = (bound: number, of: Target['of'] = 'value'): Target => ({ of, at: 'least', bound })

export const ratioOf = ({ value, limit }: Figure): number | undefined =>
  limit === undefined || limit.value === 0 ? undefined : value / limit.value

/** Undefined: the figure has no target. */
export function isMet(figure: Figure): boolean | undefined {
  const { target } = figure
  if (!target) return undefined
  const measured = target.of === 'value' ? figure.value : ratioOf(figure)
  if (measured === undefined) return undefined
  return target.at === 'most' ? measured <= target.bound : measured >= target.bound
}

export const number = (value: number): string =>
  value >= 1_000
    ? Math.round(value).toLocaleString('en')
    : value >= 100
      ? value.toFixed(0)
      : value.toPrecision(3)

const targetText = ({ target, unit }: Figure): string => {
  if (!target) return ''
  const sign = target.at === 'most' ? '≤' : '≥'
  return target.of === 'ratio' ? `${sign} ${target.bound}×` : `${sign} ${number(target.bound)} ${unit}`
}

const verdictText = (figure: Figure): string => {
  const met = isMet(figure)
  return met === undefined ? '' : met ? green('ok') : red('missed')
}

/** Why a figure misses its goal. */
export function shortfallOf(figure: Figure): string {
  const ratio = ratioOf(figure)
  const measured = figure.target?.of === 'ratio' && ratio ? `${ratio.toFixed(2)}×` : valueText(figure)
  const limit = figure.target?.of === 'ratio' ? ` of ${figure.limit?.what ?? ''}` : ''
  return `(${figure.part}) ${figure.name}: ${measured}${limit}, goal ${targetText(figure)}`
}

const valueText = ({ value, unit }: Figure): string => `${number(value)} ${unit}`

export const HEAD = ['', 'figure', 'measured', 'limit of this machine', 'ratio', 'goal', 'verdict']

export const rowOf = (figure: Figure): string[] => {
  const ratio = ratioOf(figure)
  return [
    bold(figure.part),
    figure.name,
    valueText(figure),
    figure.limit ? `${number(figure.limit.value)} ${figure.unit} ${figure.limit.what}` : '',
    ratio === undefined ? '' : `${ratio.toFixed(2)}×`,
    targetText(figure),
    verdictText(figure),
  ]
}
