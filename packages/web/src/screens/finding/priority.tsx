import type { Finding } from '../../api/findings.ts'

/** The score with what it is made of. */
export const Priority = ({ priority: { score, why } }: Pick<Finding, 'priority'>) => (
  <>
    <strong>{score}</strong>
    <ul className="bullets" aria-label="Why it has this priority">
      {why.map(({ factor, points, text }) => (
        <li key={factor}>
          +{points} {text}
        </li>
      ))}
    </ul>
  </>
)
