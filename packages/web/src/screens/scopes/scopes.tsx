import { limitLines } from '@scanfarm/client'
import { answer, api, byName } from '../../api/client.ts'
import { useRefusal } from '../../api/role.ts'
import { scopesQuery, type Scope } from '../../api/scopes.ts'
import {
  menuColumn,
  Opener,
  useWholeList,
  timeIf,
  DataTable,
  deleteItem,
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

const ACTIONS = menuColumn<Scope>(
  '90px',
  ({ name }) => name,
  (scope) => [
    { label: 'Edit', dialog: (close) => <ScopeForm scope={scope} onClose={close} /> },
    deleteItem('scope', scope.name, {
      refresh: ['scopes'],
      onConfirm: () => answer(api.DELETE('/scopes/{name}', byName(scope.name))),
      text: 'Waiting runs whose request names it are refused.',
    }),
  ],
)

/** What runs may scan. */
export const Scopes = () => (
  <div className="stack">
    <div className="line form-line">
      <Opener kind="primary" needs="admin" label="New scope">
        {(close) => <ScopeForm onClose={close} />}
      </Opener>
      <Opener needs="admin" label="Limits of all runs">
        {(close) => <FarmLimits onClose={close} />}
      </Opener>
      <p className="muted">
        Runs keep to the scope of their request and to that of their workspace. Denied entries win.
      </p>
    </div>
    <DataTable
      label="Scopes"
      columns={useRefusal('admin') === undefined ? [...COLUMNS, ACTIONS] : COLUMNS}
      list={useWholeList(scopesQuery)}
      keyOf={({ name }) => name}
      none="No scopes"
      advice="A scope says what its runs may scan, and when."
    />
  </div>
)
