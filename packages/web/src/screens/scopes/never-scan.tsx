import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useRefusal } from '../../api/role.ts'
import { addNeverScan, importNeverScan, neverScanQuery, removeNeverScan } from '../../api/scopes.ts'
import { workflowNamesQuery } from '../../api/workflows.ts'
import {
  Button,
  Combobox,
  Confirm,
  Dialog,
  Field,
  FilteredList,
  Form,
  FormActions,
  Time,
  timeOfLocal,
  toast,
  useFilters,
  useList,
  column,
  type Column,
  type Filter,
} from '../../ui/index.ts'

type Entry = Schemas['NeverScan']

const FILTERS: readonly Filter[] = [{ name: 'search', label: 'Entry or reason' }]

interface EditorProps {
  /** The entries of a file, or one that is typed. */
  readonly byFile: boolean
  readonly onClose: () => void
}

const Editor = ({ byFile, onClose }: EditorProps) => {
  const { data: workflows = [] } = useQuery(workflowNamesQuery)
  const file = useRef<HTMLInputElement>(null)
  const send = async ({ entry = '', reason = '', until, workflow }: Readonly<Record<string, string>>) => {
    const times = until ? { until: timeOfLocal(until) } : {}
    const shared = { reason, ...times, ...(workflow ? { workflow } : {}) }
    if (!byFile) {
      await addNeverScan({ entry: entry.trim(), ...shared })
      return `${entry.trim()} is on the never-scan list.`
    }
    const text = (await file.current?.files?.[0]?.text()) ?? ''
    const { added, replaced } = await importNeverScan({ text, ...shared })
    return `${added.toLocaleString()} entries added, ${replaced.toLocaleString()} replaced.`
  }
  const add = useAct(send, {
    refresh: ['never-scan'],
    done: (message) => {
      toast(message)
      onClose()
    },
  })
  return (
    <Dialog open keep onClose={onClose} title={byFile ? 'Import a file' : 'Never scan'}>
      <Form error={add.error} onSubmit={(values) => add.mutate(values)}>
        {byFile ? (
          <Field
            ref={file}
            name="text"
            label="File"
            hint="One entry in each line, with a reason behind # if it has its own. All are added, or none."
            type="file"
            required
          />
        ) : (
          <Field
            name="entry"
            label="Host, domain or network"
            hint="A name also forbids what is below it."
            placeholder="10.1.0.0/16"
            required
          />
        )}
        <Field name="reason" label="Reason" maxLength={1024} required />
        <Field name="until" label="Until (empty: no end)" type="datetime-local" />
        <Combobox name="workflow" label="Only for the workflow (empty: all)" suggestions={workflows} />
        <FormActions call={add} onBack={onClose} action={byFile ? 'Import' : 'Add'} />
      </Form>
    </Dialog>
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

/** Hosts, domains and networks that no run may scan. */
export const NeverScanList = () => {
  const [{ search }] = useFilters(['search'])
  const [adding, setAdding] = useState<'entry' | 'file'>()
  const refusal = useRefusal('admin')
  const remove: Column<Entry> = column('actions', 'Actions', '90px', ({ id, entry }) => (
    <Confirm
      trigger="Remove"
      title={`Remove ${entry}?`}
      action="Remove the entry"
      danger
      refusal={refusal}
      refresh={['never-scan']}
      onConfirm={() => removeNeverScan(id)}
    >
      <p>Runs may scan it again if their scope allows it.</p>
    </Confirm>
  ))
  return (
    <div className="stack">
      <div className="form-line">
        <Button kind="primary" refusal={refusal} onClick={() => setAdding('entry')}>
          Add an entry
        </Button>
        <Button refusal={refusal} onClick={() => setAdding('file')}>
          Import a file
        </Button>
        <p className="muted">No run scans these, whatever its scope allows.</p>
      </div>
      <FilteredList
        filters={FILTERS}
        label="Never scan"
        columns={[...COLUMNS, remove]}
        list={useList(neverScanQuery(search))}
        keyOf={({ id }) => String(id)}
        none="No entries"
        advice="Add a host, a domain or a network that must never be scanned."
      />
      {adding === undefined ? null : (
        <Editor byFile={adding === 'file'} onClose={() => setAdding(undefined)} />
      )}
    </div>
  )
}
