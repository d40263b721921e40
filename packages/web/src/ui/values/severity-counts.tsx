import { SEVERITY_TONES } from './badge.tsx'

const ORDER = ['critical', 'high', 'medium', 'low', 'info'] as const

type Counts = Readonly<Partial<Record<(typeof ORDER)[number], number>>>

export const sumOf = (counts: Counts): number =>
  ORDER.reduce((sum, severity) => sum + (counts[severity] ?? 0), 0)

/** How many findings there are of each severity, the most severe first. */
export const SeverityCounts = ({ counts }: { counts: Counts }) => {
  const some = ORDER.filter((severity) => (counts[severity] ?? 0) > 0)
  if (some.length === 0) return <span className="muted">–</span>
  return (
    <span className="severity-counts">
      {some.map((severity) => (
        <span
          key={severity}
          className={`inline severity tone-${SEVERITY_TONES[severity]}`}
          title={`${counts[severity]} ${severity}`}
        >
          <span aria-hidden="true" className="severity-letter">
            {severity.charAt(0).toUpperCase()}
          </span>
          <span className="number">{counts[severity]?.toLocaleString()}</span>
          <span className="unseen"> {severity}</span>
        </span>
      ))}
    </span>
  )
}
