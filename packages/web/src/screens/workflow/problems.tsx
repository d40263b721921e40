import './problems.css'
import type { Problem } from '../../api/workflows.ts'
import { Badge } from '../../ui/index.ts'

const TONES = { error: 'bad', warning: 'warn', info: 'wait' } as const

interface ProblemsProps {
  readonly problems: readonly Problem[]
  readonly onLine: (line: number) => void
  /** The file that is shown; the names of others are part of their place. */
  readonly file?: string
}

/** What the checker found, each with a button that shows its line. */
export const Problems = ({ problems, onLine, file }: ProblemsProps) =>
  problems.length === 0 ? null : (
    <ol className="list badged problems stack gap-6" aria-label="Problems">
      {problems.map((problem, index) => {
        const here = file === undefined || problem.file === file
        const place = `${here ? '' : `${problem.file}, `}line ${problem.line}, column ${problem.column}`
        return (
          <li key={index} className="panel">
            <Badge tone={TONES[problem.severity]}>{problem.severity}</Badge>
            <div>
              <p>{problem.message}</p>
              {problem.hint === '' ? null : <p className="muted">{problem.hint}</p>}
              <p className="muted">
                {here && problem.line > 0 ? (
                  <button type="button" className="bare link-button" onClick={() => onLine(problem.line)}>
                    {place}
                  </button>
                ) : problem.line > 0 ? (
                  place
                ) : (
                  problem.file
                )}{' '}
                · {problem.rule}
              </p>
            </div>
          </li>
        )
      })}
    </ol>
  )
