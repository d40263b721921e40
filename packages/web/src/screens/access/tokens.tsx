import { useAct } from '../../api/act.ts'
import { tokensQuery } from '../../api/access.ts'
import { answer, api, byId, type BodyOf, type Schemas } from '../../api/client.ts'
import {
  CopyLine,
  Fields,
  text,
  type FieldRow,
  Badge,
  Button,
  Confirm,
  deletion,
  Dialog,
  Form,
  FormActions,
  Time,
  useList,
  column,
  type Column,
} from '../../ui/index.ts'
import { CreatedList } from './created-list.tsx'
import { ROLE_FIELD, roleOf } from './roles.tsx'

type Token = Schemas['ApiToken']

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90

const isExpired = ({ expires_at }: Token): boolean =>
  expires_at !== null && Date.parse(expires_at) <= Date.now()

const Remove = ({ token }: { token: Token }) => (
  <Confirm
    {...deletion('token', token.name)}
    refresh={['tokens']}
    onConfirm={async () => {
      await api.DELETE('/tokens/{id}', byId(token.id))
      return `The token ${token.name} was deleted.`
    }}
    text="Programs and browsers that use it are refused from now on. This cannot be undone."
  />
)

const COLUMNS: readonly Column<Token>[] = [
  column('name', 'Name', 'minmax(160px, 2fr)', 'name'),
  column('role', 'Role', '90px', 'role'),
  column('expires', 'Expires', '110px', (token) => {
    if (token.expires_at === null) return 'never'
    return isExpired(token) ? <Badge tone="off">expired</Badge> : <Time at={token.expires_at} />
  }),
  column('used', 'Last used', '100px', ({ last_used_at }) =>
    last_used_at === null ? 'never' : <Time at={last_used_at} />,
  ),
  column('created', 'Created', '100px', ({ created_at }) => <Time at={created_at} />),
  column('id', 'Id', { width: '60px', align: 'end' }, 'id'),
  column('actions', 'Actions', '90px', (token) => <Remove token={token} />),
]

/** Shows the secret of a new token once. */
const Secret = ({ token, onClose }: { token: string; onClose: () => void }) => (
  <>
    <p>Copy the token now: only its hash is stored, and it is not shown again.</p>
    <CopyLine text={token} label="the token" />
    <p className="muted">
      Programs send it as <code>Authorization: Bearer …</code>; the command line reads it from{' '}
      <code>SCANFARM_TOKEN</code>.
    </p>
    <div className="dialog-actions line">
      <Button kind="primary" onClick={onClose}>
        I have stored it
      </Button>
    </div>
  </>
)

const FIELDS: readonly FieldRow[] = [
  [text('name', 'Name', { hint: 'Who or what uses it', maxLength: 128, required: true })],
  [ROLE_FIELD],
  [
    text('days', 'Days until it expires', {
      hint: 'Empty: it never expires',
      type: 'number',
      min: 1,
      max: 36_500,
    }),
  ],
]

const Create = ({ onClose }: { onClose: () => void }) => {
  const create = useAct((body: BodyOf<'/tokens', 'post'>) => answer(api.POST('/tokens', { body })), {
    refresh: ['tokens'],
  })
  return (
    <Dialog onClose={onClose} title="Create an API token" keep={create.data !== undefined}>
      {create.data ? (
        <Secret token={create.data.token} onClose={onClose} />
      ) : (
        <Form
          error={create.error}
          onSubmit={({ name = '', role, days = '' }) =>
            create.mutate({
              name,
              role: roleOf(role),
              ...(days === ''
                ? {}
                : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
            })
          }
        >
          <Fields rows={FIELDS} values={{ days: String(DEFAULT_DAYS) }} />
          <FormActions call={create} onBack={onClose} action="Create the token" />
        </Form>
      )}
    </Dialog>
  )
}

export const Tokens = () => (
  <CreatedList
    action="Create a token"
    create={Create}
    label="API tokens"
    columns={COLUMNS}
    list={useList(tokensQuery)}
    keyOf={({ id }) => String(id)}
    none="No tokens"
    advice="Programs need a token to call the API."
  />
)
