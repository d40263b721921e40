import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createToken, removeToken, tokensQuery } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import {
  Badge,
  Button,
  Confirm,
  CopyButton,
  Dialog,
  EmptyState,
  Field,
  Form,
  FormActions,
  Time,
  toast,
  useList,
  type Column,
} from '../../ui/index.ts'
import { CreatedList } from './created-list.tsx'
import { RoleField, roleOf } from './roles.tsx'

type Token = Schemas['ApiToken']

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90

const isExpired = ({ expires_at }: Token): boolean =>
  expires_at !== null && Date.parse(expires_at) <= Date.now()

const Remove = ({ token }: { token: Token }) => {
  const queries = useQueryClient()
  return (
    <Confirm
      trigger="Delete"
      title={`Delete the token ${token.name}?`}
      action="Delete the token"
      danger
      onConfirm={async () => {
        await removeToken(token)
        toast(`The token ${token.name} was deleted.`)
        await queries.invalidateQueries({ queryKey: ['tokens'] })
      }}
    >
      <p>Programs and browsers that use it are refused from now on. This cannot be undone.</p>
    </Confirm>
  )
}

const COLUMNS: readonly Column<Token>[] = [
  { id: 'name', label: 'Name', width: 'minmax(160px, 2fr)', cell: ({ name }) => name },
  { id: 'role', label: 'Role', width: '90px', cell: ({ role }) => role },
  {
    id: 'expires',
    label: 'Expires',
    width: '110px',
    cell: (token) => {
      if (token.expires_at === null) return 'never'
      return isExpired(token) ? <Badge tone="off">expired</Badge> : <Time at={token.expires_at} />
    },
  },
  {
    id: 'used',
    label: 'Last used',
    width: '100px',
    cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} />),
  },
  { id: 'created', label: 'Created', width: '100px', cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'id', label: 'Id', width: '60px', align: 'end', cell: ({ id }) => id },
  { id: 'actions', label: 'Actions', width: '90px', cell: (token) => <Remove token={token} /> },
]

/** Shows the secret of a new token once. */
const Secret = ({ token, onClose }: { token: string; onClose: () => void }) => (
  <>
    <p>Copy the token now: only its hash is stored, and it is not shown again.</p>
    <div className="panel secret">
      <code>{token}</code>
      <CopyButton text={token} label="the token" />
    </div>
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

const Create = ({ onClose }: { onClose: () => void }) => {
  const queries = useQueryClient()
  const create = useMutation({
    mutationFn: createToken,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tokens'] }),
  })
  return (
    <Dialog open onClose={onClose} title="Create an API token" keep={create.data !== undefined}>
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
          <Field name="name" label="Name" hint="Who or what uses it" maxLength={128} required />
          <RoleField />
          <Field
            name="days"
            label="Days until it expires"
            hint="Empty: it never expires"
            type="number"
            min={1}
            max={36_500}
            defaultValue={DEFAULT_DAYS}
          />
          <FormActions call={create} onBack={onClose}>
            Create the token
          </FormActions>
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
    empty={<EmptyState title="No tokens">Programs need a token to call the API.</EmptyState>}
  />
)
