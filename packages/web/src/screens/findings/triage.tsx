import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { changeFindings, type BulkProgress, type FindingChange, type Scope } from '../../api/findings.ts'
import { Button, Dialog, ErrorPanel, Field, Form, Link, Progress, toast } from '../../ui/index.ts'

const CHANGES = [
  { id: 'gone', label: 'Mark as gone' },
  { id: 'open', label: 'Open again' },
  { id: 'add', label: 'Add tags' },
  { id: 'remove', label: 'Remove tags' },
  { id: 'delete', label: 'Delete, with their history' },
] as const
type ChangeId = (typeof CHANGES)[number]['id']

const OUTCOMES: Readonly<Record<string, string>> = {
  not_found: 'no longer exists',
  too_many_tags: 'would have too many tags',
}

const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
]

const changeOf = (id: ChangeId, tags: string): FindingChange => {
  if (id === 'add') return { add_tags: tagsOf(tags) }
  if (id === 'remove') return { remove_tags: tagsOf(tags) }
  return id === 'delete' ? { delete: true } : { state: id }
}

const countOf = (scope: Scope): number => ('ids' in scope ? scope.ids.length : scope.total)
const findings = (count: number): string =>
  `${count.toLocaleString()} ${count === 1 ? 'finding' : 'findings'}`

interface TriageProps {
  readonly scope: Scope
  readonly onClose: () => void
  /** Called after the findings were changed. */
  readonly onDone: () => void
}

/** Changes findings in bulk, shows how far it is, and what could not be changed. */
export const Triage = ({ scope, onClose, onDone }: TriageProps) => {
  const queries = useQueryClient()
  const [id, setId] = useState<ChangeId>('gone')
  const [progress, setProgress] = useState<BulkProgress>()
  const [busy, setBusy] = useState(false)
  const [ended, setEnded] = useState(false)
  const [error, setError] = useState<unknown>()
  const stop = useRef<AbortController>(undefined)
  const count = countOf(scope)

  const start = async (tags: string) => {
    const control = new AbortController()
    stop.current = control
    setBusy(true)
    setError(undefined)
    try {
      const result = await changeFindings(scope, changeOf(id, tags), setProgress, control.signal)
      setEnded(true)
      onDone()
      if (result.failed.length > 0 || control.signal.aborted) return
      toast(
        `${findings(result.changed)} changed${result.unchanged > 0 ? `, ${result.unchanged.toLocaleString()} unchanged` : ''}.`,
      )
      onClose()
    } catch (reason) {
      setError(reason)
    } finally {
      setBusy(false)
      for (const name of ['findings', 'finding', 'counts'])
        void queries.invalidateQueries({ queryKey: [name] })
    }
  }

  const close = () => {
    stop.current?.abort()
    onClose()
  }
  return (
    <Dialog
      open
      onClose={close}
      title={'ids' in scope ? `Triage ${findings(count)}` : `Triage all ${findings(count)} that match`}
    >
      {ended ? null : (
        <Form error={error} onSubmit={({ tags = '' }) => void start(tags)}>
          {'ids' in scope ? null : <Filters filters={scope.filters} />}
          <fieldset className="choices" disabled={busy}>
            <legend>What to do</legend>
            {CHANGES.map(({ id: each, label }) => (
              <label key={each} className="check">
                <input
                  type="radio"
                  name="change"
                  value={each}
                  checked={each === id}
                  onChange={() => setId(each)}
                />
                {label}
              </label>
            ))}
          </fieldset>
          {id === 'add' || id === 'remove' ? (
            <Field name="tags" label="Tags" hint="Separated by commas" required autoComplete="off" />
          ) : null}
          {id === 'delete' ? (
            <p className="tone-bad">
              ■ This cannot be undone. A later scan that sees a finding adds it as new.
            </p>
          ) : null}
          {id === 'gone' ? <p className="muted">A scan that sees a finding again opens it.</p> : null}
          {error === undefined ? null : <ErrorPanel error={error} />}
          {progress === undefined ? null : <Counts progress={progress} count={count} />}
          <div className="dialog-actions">
            <Button onClick={close}>{busy ? 'Stop' : 'Back'}</Button>
            <Button type="submit" kind={id === 'delete' ? 'danger' : 'primary'} busy={busy}>
              {id === 'delete' ? `Delete ${findings(count)}` : `Change ${findings(count)}`}
            </Button>
          </div>
        </Form>
      )}
      {ended && progress !== undefined ? (
        <>
          <Counts progress={progress} count={count} />
          <Failures progress={progress} />
          <div className="dialog-actions">
            <Button kind="primary" onClick={onClose}>
              Close
            </Button>
          </div>
        </>
      ) : null}
    </Dialog>
  )
}

const Filters = ({ filters }: { filters: object }) => {
  const given = Object.entries({ state: 'open', ...filters }) as [string, string][]
  return (
    <p className="muted">
      {given.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join(' · ')}
    </p>
  )
}

const Counts = ({ progress, count }: { progress: BulkProgress; count: number }) => (
  <div role="status">
    <Progress value={progress.done} max={count} label="Changed findings" />
    <p className="number">
      {progress.done.toLocaleString()} of {count.toLocaleString()}: {progress.changed.toLocaleString()}{' '}
      changed, {progress.unchanged.toLocaleString()} unchanged, {progress.failed.length.toLocaleString()}{' '}
      failed
    </p>
  </div>
)

const Failures = ({ progress: { failed } }: { progress: BulkProgress }) => (
  <ul className="failures">
    {failed.map(({ id, outcome }) => (
      <li key={id}>
        <Link href={`/findings/${id}`}>Finding {id}</Link> {OUTCOMES[outcome] ?? outcome}
      </li>
    ))}
  </ul>
)
