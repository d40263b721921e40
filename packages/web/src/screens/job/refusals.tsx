import { refusalsQuery, type Refusal } from '../../api/scopes.ts'
import { column, DataTable, runLink, Time, useList, type Column } from '../../ui/index.ts'

const PLACES: Readonly<Record<Refusal['place'], string>> = {
  submit: 'when the job was submitted',
  trigger: 'when the trigger fired',
  start: 'at the start of its run',
  item: 'as item of a loop',
  request: 'before a request',
  redirect: 'after a redirect',
  kernel: 'packets of a command',
  delta: '',
}

const COLUMNS: readonly Column<Refusal>[] = [
  column('target', 'Target', 'minmax(160px, 1fr)', ({ target }) => <strong title={target}>{target}</strong>),
  column('reason', 'Why', 'minmax(200px, 2fr)', 'reason'),
  column('place', 'Where', '220px', ({ place }) => PLACES[place]),
  column('run', 'Run', '64px', ({ run_uuid: run }) => runLink(run, 'show')),
  column('at', 'Time', '96px', ({ created_at: at }) => <Time at={at} />),
]

/** Targets of the job that were not scanned because a scope or the never-scan list forbids them. */
export const Refusals = ({ jobId }: { jobId: string }) => (
  <DataTable
    label="Refused targets"
    columns={COLUMNS}
    list={useList(refusalsQuery(jobId, 'refusals'))}
    keyOf={({ id }) => String(id)}
    none="No longer listed"
    advice="Refusals are listed for 90 days."
  />
)

/** Targets that mode delta left out. */
export const LeftOut = ({ jobId }: { jobId: string }) => (
  <DataTable
    label="Targets left out"
    columns={COLUMNS.filter(({ id }) => id === 'target' || id === 'reason')}
    list={useList(refusalsQuery(jobId, 'left-out'))}
    keyOf={({ id }) => String(id)}
    none="No longer listed"
    advice="They are listed for 90 days."
  />
)
