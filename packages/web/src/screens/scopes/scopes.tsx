import { limitLines } from '@scanfarm/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useRefusal } from '../../api/role.ts'
import { removeScope, scopesQuery, type Scope } from '../../api/scopes.ts'
import {
  timeIf,
  Button,
  ConfirmDialog,
  DataTable,
  Dialog,
  EmptyState,
  Menu,
  Time,
  column,
  type Column,
} from '../../ui/index.ts'
import { FarmLimits } from './limits-form.tsx'
import { ScopeForm, windowText } from './scope-form.tsx'

const Listed = ({ texts }: { texts: readonly string[] }) => (
  <span title={texts.join('\n')}>{texts.join(', ')}</span>
)

const COLUMNS: readonly Column<Scope>[] = [
  column('name', 'Name', 'minmax(120px, 1fr)', ({ name }) => <strong>{name}</strong>),
  column('allowed', 'Allowed', 'minmax(180px, 2fr)', ({ allowed }) => <Listed texts={allowed} />),
  column('denied', 'Denied', 'minmax(120px, 1fr)', ({ denied }) => <Listed texts={denied} />),
  column('windows', 'When', 'minmax(120px, 1fr)', ({ windows, zone }) =>
    windows.length === 0 ? 'always' : <Listed texts={[...windows.map(windowText), zone]} />,
  ),
  column('limits', 'Limits', { width: 'minmax(160px, 1fr)', hidden: true }, ({ limits }) => (
    <Listed texts={limitLines(limits)} />
  )),
  column('workspaces', 'Workspaces', 'minmax(110px, 1fr)', ({ workspaces }) => <Listed texts={workspaces} />),
  column('owner', 'Owner', '110px', 'owner'),
  column('until', 'Until', '84px', ({ valid_until: until }) => timeIf(until)),
  column('note', 'Note', { width: 'minmax(120px, 1fr)', hidden: true }, 'note'),
  column('changed', 'Changed', { width: '84px', hidden: true }, ({ updated_at }) => <Time at={updated_at} />),
]

/** What runs may scan. */
export const Scopes = () => {
  const { data, error, refetch } = useQuery(scopesQuery)
  const [editing, setEditing] = useState<Scope | 'new'>()
  const [removing, setRemoving] = useState<Scope>()
  const [limiting, setLimiting] = useState(false)
  const refusal = useRefusal('admin')
  const actions: Column<Scope> = column('actions', 'Actions', '90px', (scope) => (
    <Menu
      label={`Actions of ${scope.name}`}
      items={[
        { label: 'Edit', onSelect: () => setEditing(scope) },
        { label: 'Delete', danger: true, onSelect: () => setRemoving(scope) },
      ]}
    >
      Actions ▾
    </Menu>
  ))
  return (
    <div className="stack">
      <div className="form-line">
        <Button kind="primary" refusal={refusal} onClick={() => setEditing('new')}>
          New scope
        </Button>
        <Button refusal={refusal} onClick={() => setLimiting(true)}>
          Limits of all runs
        </Button>
        <p className="muted">
          Runs keep to the scope of their request and to that of their workspace. Denied entries win.
        </p>
      </div>
      <DataTable
        label="Scopes"
        columns={refusal === undefined ? [...COLUMNS, actions] : COLUMNS}
        list={{ rows: data, total: data?.length, error, retry: () => void refetch() }}
        keyOf={({ name }) => name}
        empty={<EmptyState title="No scopes">A scope says what its runs may scan, and when.</EmptyState>}
      />
      <Dialog
        wide
        keep
        open={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={editing === 'new' || editing === undefined ? 'New scope' : `Edit the scope ${editing.name}`}
      >
        <ScopeForm
          {...(editing === 'new' || editing === undefined ? {} : { scope: editing })}
          onDone={() => setEditing(undefined)}
        />
      </Dialog>
      <Dialog keep open={limiting} onClose={() => setLimiting(false)} title="Limits of all runs">
        <FarmLimits onDone={() => setLimiting(false)} />
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Delete the scope ${removing?.name ?? ''}?`}
        action="Delete the scope"
        danger
        refresh={['scopes']}
        onConfirm={() => removeScope(removing?.name ?? '')}
      >
        <p>Waiting runs whose request names it are refused.</p>
      </ConfirmDialog>
    </div>
  )
}
