import type { findingQuery } from '../../api/findings.ts'
import type { DataOf } from '../../api/list.ts'
import { EmptyState, Link, Time } from '../../ui/index.ts'

type Change = DataOf<typeof findingQuery>['history'][number]

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const By = ({ changed_by, run_uuid }: Change) => {
  if (run_uuid !== '') return <Link href={`/runs/${run_uuid}`}>by a run</Link>
  return <span>{changed_by === '' ? 'by an import' : `by ${changed_by.replace(':', ' ')}`}</span>
}

export const History = ({ changes, complete }: { changes: readonly Change[]; complete: boolean }) =>
  changes.length === 0 ? (
    <EmptyState title="No changes yet">
      What scans saw, what people decided, and comments appear here.
    </EmptyState>
  ) : (
    <ol className="list entries stack gap-6">
      {changes.map((change) => (
        <li key={`${change.changed_at} ${Object.keys(change.changes).join(' ')} ${change.comment}`}>
          <Time at={change.changed_at} />
          {Object.entries(change.changes).map(([name, { from, to }]) => (
            <span key={name}>
              {name}: <span className="muted">{textOf(from)}</span> → <strong>{textOf(to)}</strong>
            </span>
          ))}
          {change.comment === '' ? null : <q>{change.comment}</q>}
          <By {...change} />
        </li>
      ))}
      {complete ? null : (
        <li className="muted">Older changes are not kept: only the newest 100 by scans and 1,000 by hand.</li>
      )}
    </ol>
  )
