import { limitLines } from '@scanfarm/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useRefusal } from '../../api/role.ts'
import { removeScope, scopesQuery, type Scope } from '../../api/scopes.ts'
import {
  Button,
  ConfirmDialog,
  DataTable,
  Dialog,
  EmptyState,
  Menu,
  Time,
  toast,
  type Column,
} from '../../ui/index.ts'
import { FarmLimits } from './limits-form.tsx'
import { ScopeForm, windowText } from './scope-form.tsx'

const Listed = ({ texts }: { texts: readonly string[] }) => (
  <span title={texts.join('\n')}>{texts.join(', ')}</span>
)

const COLUMNS: readonly Column<Scope>[] = [
  { id: 'name', label: 'Name', width: 'minmax(120px, 1fr)', cell: ({ name }) => <strong>{name}</strong> },
  {
    id: 'allowed',
    label: 'Allowed',
    width: 'minmax(180px, 2fr)',
    cell: ({ allowed }) => <Listed texts={allowed} />,
  },
  {
    id: 'denied',
    label: 'Denied',
    width: 'minmax(120px, 1fr)',
    cell: ({ denied }) => <Listed texts={denied} />,
  },
  {
    id: 'windows',
    label: 'When',
    width: 'minmax(120px, 1fr)',
    cell: ({ windows, zone }) =>
      windows.length === 0 ? 'always' : <Listed texts={[...windows.map(windowText), zone]} />,
  },
  {
    id: 'limits',
    label: 'Limits',
    width: 'minmax(160px, 1fr)',
    hidden: true,
    cell: ({ limits }) => <Listed texts={limitLines(limits)} />,
  },
  {
    id: 'workspaces',
    label: 'Workspaces',
    width: 'minmax(110px, 1fr)',
    cell: ({ workspaces }) => <Listed texts={workspaces} />,
  },
  { id: 'owner', label: 'Owner', width: '110px', cell: ({ owner }) => <span title={owner}>{owner}</span> },
  {
    id: 'until',
    label: 'Until',
    width: '84px',
    cell: ({ valid_until: until }) => (until === null ? '' : <Time at={until} />),
  },
  { id: 'note', label: 'Note', width: 'minmax(120px, 1fr)', hidden: true, cell: ({ note }) => note },
  {
    id: 'changed',
    label: 'Changed',
    width: '84px',
    hidden: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
]

/** What runs may scan. */
export const Scopes = () => {
  const { data, error, refetch } = useQuery(scopesQuery)
  const [editing, setEditing] = useState<Scope | 'new'>()
  const [removing, setRemoving] = useState<Scope>()
  const [limiting, setLimiting] = useState(false)
  const queries = useQueryClient()
  const refusal = useRefusal('admin')
  const actions: Column<Scope> = {
    id: 'actions',
    label: 'Actions',
    width: '90px',
    cell: (scope) => (
      <Menu
        label={`Actions of ${scope.name}`}
        items={[
          { label: 'Edit', onSelect: () => setEditing(scope) },
          { label: 'Delete', danger: true, onSelect: () => setRemoving(scope) },
        ]}
      >
        Actions ▾
      </Menu>
    ),
  }
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
        onConfirm={async () => {
          if (removing) toast((await removeScope(removing.name)).message)
          await queries.invalidateQueries({ queryKey: ['scopes'] })
        }}
      >
        <p>Waiting runs whose request names it are refused.</p>
      </ConfirmDialog>
    </div>
  )
}
