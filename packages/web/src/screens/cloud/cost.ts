import type { Infra, Machine } from '../../api/cloud.ts'

const HOUR_MS = 3_600_000

/** Machines that failed before they existed cost nothing. */
const hoursOf = ({ status, created_at, destroyed_at }: Machine, now: number): number => {
  if (destroyed_at === null && (status === 'failed' || status === 'destroyed')) return 0
  const end = destroyed_at === null ? now : Date.parse(destroyed_at)
  return Math.max(0, end - Date.parse(created_at)) / HOUR_MS
}

/** US dollars until now; null: the price is not known. Like the total of the overview. */
export const costSoFar = ({ hourly_cost, instances, details }: Infra, now: number): number | null =>
  hourly_cost === null
    ? null
    : details.reduce(
        (sum, machine) => sum + (hoursOf(machine, now) * hourly_cost) / Math.max(1, instances),
        0,
      )

export const dollars = (amount: number | null, digits = 2): string =>
  amount === null
    ? 'not known'
    : amount.toLocaleString('en-US', {
        style: 'currency',
        currency: 'USD',
        minimumFractionDigits: 2,
        maximumFractionDigits: digits,
      })
