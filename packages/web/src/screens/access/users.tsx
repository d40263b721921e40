import { usersQuery } from '../../api/access.ts'
import { answer, api, byId, type Schemas } from '../../api/client.ts'
import {
  FormDialog,
  text,
  column,
  Confirm,
  deletion,
  Opener,
  Time,
  useList,
  type Column,
} from '../../ui/index.ts'
import { CreatedList } from './created-list.tsx'
import { ROLE_FIELD, roleOf } from './roles.tsx'

type User = Schemas['User']

const MIN_PASSWORD = 8
const MAX_PASSWORD = 256

const passwordField = (label: string, hint: string, required: boolean) =>
  text('password', label, {
    hint,
    required,
    type: 'password',
    autoComplete: 'new-password',
    minLength: MIN_PASSWORD,
    maxLength: MAX_PASSWORD,
  })

const NAME = text('username', 'Name', {
  hint: 'Letters, digits and . _ @ -',
  pattern: '[A-Za-z0-9._@\\-]{1,128}',
  maxLength: 128,
  required: true,
})

const Create = ({ onClose }: { onClose: () => void }) => (
  <FormDialog
    onClose={onClose}
    title="Create a user"
    fields={[[NAME], [passwordField('Password', `At least ${MIN_PASSWORD} characters`, true)], [ROLE_FIELD]]}
    action="Create the user"
    refresh={['users']}
    send={async ({ username = '', password = '', role }) => {
      const { data } = await answer(api.POST('/users', { body: { username, password, role: roleOf(role) } }))
      return `The user ${data.username} was created.`
    }}
  />
)

const Change = ({ user, onClose }: { user: User; onClose: () => void }) => (
  <FormDialog
    onClose={onClose}
    title={`Change the user ${user.username}`}
    fields={[[ROLE_FIELD], [passwordField('New password', 'Empty: the password stays as it is', false)]]}
    values={{ role: user.role }}
    action="Save"
    refresh={['users']}
    send={async ({ password = '', role }) => {
      const body = { role: roleOf(role), ...(password === '' ? {} : { password }) }
      await api.PATCH('/users/{id}', { ...byId(user.id), body })
      return `The user ${user.username} was changed.`
    }}
  >
    <p className="muted">Another role or password ends the logins of this user.</p>
  </FormDialog>
)

const Actions = ({ user }: { user: User }) => (
  <span className="page-actions line">
    <Opener label="Change">{(close) => <Change user={user} onClose={close} />}</Opener>
    <Confirm
      {...deletion('user', user.username)}
      refresh={['users']}
      onConfirm={async () => {
        await api.DELETE('/users/{id}', byId(user.id))
        return `The user ${user.username} was deleted.`
      }}
      text="Their logins end, and their saved filters are deleted. This cannot be undone."
    />
  </span>
)

const COLUMNS: readonly Column<User>[] = [
  column('name', 'Name', 'minmax(160px, 2fr)', 'username'),
  column('role', 'Role', '90px', 'role'),
  column('created', 'Created', '100px', ({ created_at }) => <Time at={created_at} />),
  column('id', 'Id', { width: '60px', align: 'end' }, 'id'),
  column('actions', 'Actions', '170px', (user) => <Actions user={user} />),
]

export const Users = () => (
  <CreatedList
    action="Create a user"
    create={Create}
    label="Users"
    columns={COLUMNS}
    list={useList(usersQuery)}
    keyOf={({ id }) => String(id)}
    none="No users"
    advice="Everybody logs in with an API token. Create a user for each person, so that the audit log names them."
  />
)
