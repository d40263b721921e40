import { useQuery } from '@tanstack/react-query'
import { answer, api, byId, type Schemas } from '../../api/client.ts'
import { neverScanQuery } from '../../api/scopes.ts'
import { workflowNamesQuery } from '../../api/workflows.ts'
import {
  FormDialog,
  Opener,
  suggest,
  text,
  type FieldRow,
  type Texts,
  Confirm,
  deletion,
  FilteredList,
  Time,
  timeOfLocal,
  useFilters,
  useList,
  column,
  type Column,
  type Filter,
} from '../../ui/index.ts'

type Entry = Schemas['NeverScan']

const FILTERS: readonly Filter[] = [{ name: 'search', label: 'Entry or reason' }]

const ENTRY: FieldRow = [
  text('entry', 'Host, domain or network', {
    hint: 'A name also forbids what is below it. A URL forbids only requests below it, not its host.',
    placeholder: '10.1.0.0/16',
    required: true,
  }),
]

interface EditorProps {
  /** The entries of a file, or one that is typed. */
  readonly byFile: boolean
  readonly onClose: () => void
}

const Editor = ({ byFile, onClose }: EditorProps) => {
  const { data: workflows = [] } = useQuery(workflowNamesQuery)
  const send = async ({ entry = '', reason = '', until, workflow }: Texts, [file]: readonly File[]) => {
    const times = until ? { until: timeOfLocal(until) } : {}
    const shared = { reason, ...times, ...(workflow ? { workflow } : {}) }
    if (!byFile) {
      await api.POST('/never-scan', { body: { entry: entry.trim(), ...shared } })
      return `${entry.trim()} is on the never-scan list.`
    }
    const content = (await file?.text()) ?? ''
    const body = { text: content, ...shared }
    const { added, replaced } = await answer(api.POST('/never-scan/import', { body }))
    return `${added.toLocaleString()} entries added, ${replaced.toLocaleString()} replaced.`
  }
  const hint = 'One entry in each line, with a reason behind # if it has its own. All are added, or none.'
  return (
    <FormDialog
      keep
      onClose={onClose}
      title={byFile ? 'Import a file' : 'Never scan'}
      fields={[
        byFile ? [text('text', 'File', { hint, type: 'file', required: true })] : ENTRY,
        [text('reason', 'Reason', { maxLength: 1024, required: true })],
        [text('until', 'Until (empty: no end)', { type: 'datetime-local' })],
        [suggest('workflow', 'Only for the workflow (empty: all)', workflows)],
      ]}
      action={byFile ? 'Import' : 'Add'}
      refresh={['never-scan']}
      send={send}
    />
  )
}

const COLUMNS: readonly Column<Entry>[] = [
  column('entry', 'Entry', 'minmax(160px, 1fr)', ({ entry }) => <strong title={entry}>{entry}</strong>),
  column('reason', 'Reason', 'minmax(160px, 2fr)', 'reason'),
  column('workflow', 'Workflow', '120px', ({ workflow }) => (
    <span title={workflow}>{workflow || 'all'}</span>
  )),
  column('until', 'Until', '84px', ({ until }) => (until === null ? 'no end' : <Time at={until} />)),
  column('by', 'By', '110px', ({ created_by: by }) => by.replace(':', ' ')),
  column('added', 'Added', '84px', ({ created_at: at }) => <Time at={at} />),
]

const REMOVE: Column<Entry> = column('actions', 'Actions', '90px', ({ id, entry }) => (
  <Confirm
    {...deletion('entry', entry, 'Remove')}
    needs="admin"
    refresh={['never-scan']}
    onConfirm={() => answer(api.DELETE('/never-scan/{id}', byId(id)))}
    text="Runs may scan it again if their scope allows it."
  />
))

/** Hosts, domains and networks that no run may scan. */
export const NeverScanList = () => {
  const [{ search }] = useFilters(['search'])
  return (
    <div className="stack">
      <div className="line form-line">
        <Opener kind="primary" needs="admin" label="Add an entry">
          {(close) => <Editor byFile={false} onClose={close} />}
        </Opener>
        <Opener needs="admin" label="Import a file">
          {(close) => <Editor byFile onClose={close} />}
        </Opener>
        <p className="muted">No run scans these, whatever its scope allows.</p>
      </div>
      <FilteredList
        filters={FILTERS}
        label="Never scan"
        columns={[...COLUMNS, REMOVE]}
        list={useList(neverScanQuery(search))}
        keyOf={({ id }) => String(id)}
        none="No entries"
        advice="Add a host, a domain or a network that must never be scanned."
      />
    </div>
  )
}
