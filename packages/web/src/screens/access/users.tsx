import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeUser, createUser, removeUser, usersQuery } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import {
  Button,
  Confirm,
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
  const queries = useQueryClient()
  const create = useMutation({
    mutationFn: createUser,
    onSuccess: async ({ data }) => {
      toast(`The user ${data.username} was created.`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['users'] })
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
          autoComplete="off"
          required
        />
        <PasswordField label="Password" hint={`At least ${MIN_PASSWORD} characters`} required />
        <RoleField />
        <FormActions call={create} onBack={onClose}>
          Create the user
        </FormActions>
      </Form>
    </Dialog>
  )
}

const Change = ({ user, onClose }: { user: User; onClose: () => void }) => {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (body: Parameters<typeof changeUser>[1]) => changeUser(user, body),
    onSuccess: async () => {
      toast(`The user ${user.username} was changed.`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['users'] })
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
        <FormActions call={change} onBack={onClose}>
          Save
        </FormActions>
      </Form>
    </Dialog>
  )
}

const Actions = ({ user }: { user: User }) => {
  const queries = useQueryClient()
  const [changing, setChanging] = useState(false)
  return (
    <span className="page-actions line">
      <Button onClick={() => setChanging(true)}>Change</Button>
      <Confirm
        trigger="Delete"
        title={`Delete the user ${user.username}?`}
        action="Delete the user"
        danger
        onConfirm={async () => {
          await removeUser(user)
          toast(`The user ${user.username} was deleted.`)
          await queries.invalidateQueries({ queryKey: ['users'] })
        }}
      >
        <p>Their logins end, and their saved filters are deleted. This cannot be undone.</p>
      </Confirm>
      {changing ? <Change user={user} onClose={() => setChanging(false)} /> : null}
    </span>
  )
}

const COLUMNS: readonly Column<User>[] = [
  { id: 'name', label: 'Name', width: 'minmax(160px, 2fr)', cell: ({ username }) => username },
  { id: 'role', label: 'Role', width: '90px', cell: ({ role }) => role },
  { id: 'created', label: 'Created', width: '100px', cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'id', label: 'Id', width: '60px', align: 'end', cell: ({ id }) => id },
  { id: 'actions', label: 'Actions', width: '170px', cell: (user) => <Actions user={user} /> },
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
