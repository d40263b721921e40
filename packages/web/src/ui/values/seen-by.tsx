import type { Schemas } from '../../api/client.ts'
import { StatusBadge } from './badge.tsx'
import { hrefWith } from '../href.ts'
import { Link } from '../link.tsx'
import { EmptyState } from '../page.tsx'
import { Time } from './values.tsx'

type SeenRun = Pick<
  Schemas['Run'],
  'run_uuid' | 'workflow_name' | 'target' | 'status' | 'started_at' | 'completed_at'
>

interface SeenByProps {
  readonly runs: readonly SeenRun[]
  /** What the comparison of two runs shows first. */
  readonly kind: 'vulnerabilities' | 'assets'
}

/** The runs that saw a finding or an asset, newest first, each with a comparison with the one before. */
export const SeenBy = ({ runs, kind }: SeenByProps) =>
  runs.length === 0 ? (
    <EmptyState title="No run saw it">
      It came from an import, or the sightings are no longer kept.
    </EmptyState>
  ) : (
    <ol className="list entries stack gap-6">
      {runs.map(({ run_uuid, workflow_name, target, status, started_at, completed_at }, index) => {
        const before = runs[index + 1]
        return (
          <li key={run_uuid}>
            <StatusBadge status={status} />
            <Link href={`/runs/${run_uuid}`}>{target || run_uuid}</Link>
            <span>{workflow_name}</span>
            <Time at={completed_at ?? started_at} />
            {before ? (
              <Link href={hrefWith('/changes', { kind, a: before.run_uuid, b: run_uuid })}>
                Changes since the run before
              </Link>
            ) : null}
          </li>
        )
      })}
    </ol>
  )
