import { useAct } from '../../api/act.ts'
import { changeUser, createUser, removeUser, usersQuery } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import {
  column,
  Confirm,
  Dialog,
  EmptyState,
  Field,
  Form,
  FormActions,
  Opener,
  Time,
  toast,
  useList,
  type Column,
} from '../../ui/index.ts'
import { CreatedList } from './created-list.tsx'
import { RoleField, roleOf } from './roles.tsx'

type User = Schemas['User']

const MIN_PASSWORD = 8
const MAX_PASSWORD = 256

const PasswordField = ({ label, hint, required }: { label: string; hint: string; required: boolean }) => (
  <Field
    name="password"
    label={label}
    hint={hint}
    type="password"
    autoComplete="new-password"
    minLength={MIN_PASSWORD}
    maxLength={MAX_PASSWORD}
    required={required}
  />
)

const Create = ({ onClose }: { onClose: () => void }) => {
  const create = useAct(createUser, {
    refresh: ['users'],
    done: ({ data }) => {
      toast(`The user ${data.username} was created.`)
      onClose()
    },
  })
  return (
    <Dialog open onClose={onClose} title="Create a user">
      <Form
        error={create.error}
        onSubmit={({ username = '', password = '', role }) =>
          create.mutate({ username, password, role: roleOf(role) })
        }
      >
        <Field
          name="username"
          label="Name"
          hint="Letters, digits and . _ @ -"
          pattern="[A-Za-z0-9._@\-]{1,128}"
          maxLength={128}
          required
        />
        <PasswordField label="Password" hint={`At least ${MIN_PASSWORD} characters`} required />
        <RoleField />
        <FormActions call={create} onBack={onClose} action="Create the user" />
      </Form>
    </Dialog>
  )
}

const Change = ({ user, onClose }: { user: User; onClose: () => void }) => {
  const change = useAct((body: Parameters<typeof changeUser>[1]) => changeUser(user, body), {
    refresh: ['users'],
    done: () => {
      toast(`The user ${user.username} was changed.`)
      onClose()
    },
  })
  return (
    <Dialog open onClose={onClose} title={`Change the user ${user.username}`}>
      <Form
        error={change.error}
        onSubmit={({ password = '', role }) =>
          change.mutate({ role: roleOf(role), ...(password === '' ? {} : { password }) })
        }
      >
        <RoleField role={user.role} />
        <PasswordField label="New password" hint="Empty: the password stays as it is" required={false} />
        <p className="muted">Another role or password ends the logins of this user.</p>
        <FormActions call={change} onBack={onClose} action="Save" />
      </Form>
    </Dialog>
  )
}

const Actions = ({ user }: { user: User }) => {
  return (
    <span className="page-actions line">
      <Opener label="Change">{(close) => <Change user={user} onClose={close} />}</Opener>
      <Confirm
        trigger="Delete"
        title={`Delete the user ${user.username}?`}
        action="Delete the user"
        danger
        refresh={['users']}
        onConfirm={async () => {
          await removeUser(user)
          return `The user ${user.username} was deleted.`
        }}
      >
        <p>Their logins end, and their saved filters are deleted. This cannot be undone.</p>
      </Confirm>
    </span>
  )
}

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
    empty={
      <EmptyState title="No users">
        Everybody logs in with an API token. Create a user for each person, so that the audit log names them.
      </EmptyState>
    }
  />
)
