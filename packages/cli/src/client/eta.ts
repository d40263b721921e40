/** The answer of `GET /jobs/{id}/progress`, as far as it is shown. */
export interface JobEta {
  readonly eta: {
    readonly expected_seconds: number | null
    readonly early_seconds: number | null
    readonly late_seconds: number | null
  }
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A time that is only an estimate: one unit, or two while the first is small. */
export const roughTime = (seconds: number): string => {
  if (seconds < 1.5 * MINUTE) return `${Math.max(1, Math.round(seconds))} s`
  if (seconds < 1.5 * HOUR) return `${Math.round(seconds / MINUTE)} min`
  if (seconds < 2 * DAY) return `${(seconds / HOUR).toFixed(1)} h`
  return `${(seconds / DAY).toFixed(1)} d`
}

/** The expected end of a job with its range, or "" if it is not known. */
export const etaText = ({ eta }: JobEta): string => {
  const { expected_seconds: expected, early_seconds: early, late_seconds: late } = eta
  if (expected === null) return ''
  const from = early === null ? '' : roughTime(early)
  const to = late === null ? 'unknown' : roughTime(late)
  return `  ends in about ${roughTime(expected)}${from === to ? '' : ` (${from} to ${to})`}`
}
