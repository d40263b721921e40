import { useAct } from '../../api/act.ts'
import { useRef, useState } from 'react'
import {
  changeFindings,
  SEVERITIES,
  type BulkProgress,
  type FindingChange,
  type Scope,
} from '../../api/findings.ts'
import {
  choice,
  Fields,
  itemsOf,
  lines,
  plural,
  text,
  type FieldRow,
  type Texts,
  Button,
  Dialog,
  ErrorPanel,
  Form,
  Link,
  Progress,
  toast,
} from '../../ui/index.ts'

const CHANGES = [
  { id: 'confirmed', label: 'Confirm' },
  { id: 'false_positive', label: 'False positive' },
  { id: 'accepted', label: 'Accept the risk' },
  { id: 'fixed_claimed', label: 'Mark as fixed' },
  { id: 'none', label: 'Open again, without a verdict' },
  { id: 'severity', label: 'Set the severity' },
  { id: 'assignee', label: 'Assign' },
  { id: 'comment', label: 'Comment' },
  { id: 'add', label: 'Add tags' },
  { id: 'remove', label: 'Remove tags' },
  { id: 'delete', label: 'Delete, with their history' },
] as const
export type ChangeId = (typeof CHANGES)[number]['id']

const NOTES: Readonly<Partial<Record<ChangeId, string>>> = {
  false_positive: 'It stays closed when scans see it.',
  accepted: 'It stays closed until then, and is open again afterwards.',
  fixed_claimed: 'If a scan sees it again, it is open and marked as back.',
  none: 'This wins over rules.',
}

const TAGS: readonly FieldRow[] = [[text('tags', 'Tags', { hint: 'Separated by commas', required: true })]]
const REASON = text('reason', 'Reason')
/** The fields of a change; a verdict has a reason. */
const FIELDS: Readonly<Partial<Record<ChangeId, readonly FieldRow[]>>> = {
  accepted: [[text('until', 'Until', { type: 'date', hint: 'Empty: until it is opened again' })], [REASON]],
  severity: [
    [choice('severity', 'Severity', [...SEVERITIES, { value: '', label: 'as the scanner reports it' }])],
  ],
  assignee: [[text('assignee', 'Who takes care of it')]],
  comment: [[lines('comment', 'Comment', { required: true })]],
  add: TAGS,
  remove: TAGS,
  delete: [],
}

const OUTCOMES: Readonly<Record<string, string>> = {
  not_found: 'no longer exists',
  too_many_tags: 'would have too many tags',
}

const tagsOf = (text: string): string[] => [...new Set(itemsOf(text))]

const changeOf = (id: ChangeId, values: Texts): FindingChange => {
  const { tags = '', reason = '', until = '', severity = '', assignee = '', comment = '' } = values
  if (id === 'add') return { add_tags: tagsOf(tags) }
  if (id === 'remove') return { remove_tags: tagsOf(tags) }
  if (id === 'delete') return { delete: true }
  if (id === 'severity') return { severity: SEVERITIES.find((one) => one === severity) ?? null }
  if (id === 'assignee') return { assignee: assignee.trim() }
  if (id === 'comment') return { comment }
  return { verdict: id, reason, ...(id === 'accepted' && until !== '' ? { until } : {}) }
}

const findings = (count: number): string => plural(count, 'finding')

interface TriageProps {
  readonly scope: Scope
  /** What is chosen first. */
  readonly first?: ChangeId
  readonly onClose: () => void
  /** Called after the findings were changed. */
  readonly onDone: () => void
}

/** Changes findings in bulk, shows how far it is, and what could not be changed. */
export const Triage = ({ scope, first = 'confirmed', onClose, onDone }: TriageProps) => {
  const [id, setId] = useState<ChangeId>(first)
  const [progress, setProgress] = useState<BulkProgress>()
  const stop = useRef<AbortController>(undefined)
  const count = 'ids' in scope ? scope.ids.length : scope.total
  const send = (values: Texts) => {
    stop.current = new AbortController()
    return changeFindings(scope, changeOf(id, values), setProgress, stop.current.signal)
  }
  const call = useAct(send, {
    refresh: ['findings', 'finding', 'counts'],
    done: ({ changed, unchanged, failed }) => {
      onDone()
      if (failed.length > 0 || stop.current?.signal.aborted) return
      const same = unchanged > 0 ? `, ${unchanged.toLocaleString()} unchanged` : ''
      toast(`${findings(changed)} changed${same}.`)
      onClose()
    },
  })
  const { isPending: busy, isSuccess: ended, error } = call
  const close = () => {
    stop.current?.abort()
    onClose()
  }
  return (
    <Dialog
      onClose={close}
      title={'ids' in scope ? `Triage ${findings(count)}` : `Triage all ${findings(count)} that match`}
    >
      {ended ? null : (
        <Form error={error} onSubmit={(values) => call.mutate(values)}>
          {'ids' in scope ? null : <Filters filters={scope.filters} />}
          <fieldset className="stack gap-6" disabled={busy}>
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
          <Fields key={id} rows={FIELDS[id] ?? [[REASON]]} />
          {id === 'delete' ? (
            <p className="tone-bad">
              ■ This cannot be undone. A later scan that sees a finding adds it as new.
            </p>
          ) : null}
          {NOTES[id] === undefined ? null : <p className="muted">{NOTES[id]}</p>}
          {error ? <ErrorPanel error={error} /> : null}
          {progress === undefined ? null : <Counts progress={progress} count={count} />}
          <div className="dialog-actions line">
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
          <div className="dialog-actions line">
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
  <ul className="bullets">
    {failed.map(({ id, outcome }) => (
      <li key={id}>
        <Link href={`/findings/${id}`}>Finding {id}</Link> {OUTCOMES[outcome] ?? outcome}
      </li>
    ))}
  </ul>
)
