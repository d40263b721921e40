import { useQuery } from '@tanstack/react-query'
import { sessionsQuery } from '../../api/access.ts'
import { api, byId, type Schemas } from '../../api/client.ts'
import { sessionQuery, useLogOut } from '../../api/session.ts'
import { useWholeList, column, Badge, Button, Confirm, DataTable, Time, type Column } from '../../ui/index.ts'

type Session = Schemas['OwnSession']

const End = ({ id }: { id: string }) => (
  <Confirm
    trigger="Log out"
    title="Log out that browser?"
    action="Log out"
    danger
    refresh={['sessions']}
    onConfirm={async () => {
      await api.DELETE('/sessions/{id}', byId(id))
      return 'The login was ended.'
    }}
    text="It needs another login for its next step."
  />
)

const COLUMNS: readonly Column<Session>[] = [
  column('id', 'Login', 'minmax(180px, 1fr)', ({ id, current }) => (
    <>
      <code>{id}</code> {current ? <Badge tone="good">this browser</Badge> : null}
    </>
  )),
  column('created', 'Logged in', '100px', ({ created_at }) => <Time at={created_at} />),
  column('used', 'Last used', '100px', ({ last_used_at }) => <Time at={last_used_at} />),
  column('expires', 'Ends', '100px', ({ expires_at }) => <Time at={expires_at} />),
  column('actions', 'Actions', '100px', ({ id, current }) => (current ? null : <End id={id} />)),
]

export const Logins = () => {
  const { data: me } = useQuery(sessionQuery)
  const logOut = useLogOut()
  return (
    <div className="stack">
      <p className="muted">
        Browsers that are logged in as {me?.name ?? 'you'}. Log out those that you do not know
        {me?.kind === 'user' ? ', and ask an administrator for a new password' : ''}.
      </p>
      <DataTable
        label="My logins"
        columns={COLUMNS}
        list={useWholeList(sessionsQuery)}
        keyOf={({ id }) => id}
        none="No logins"
      />
      <div className="page-actions line">
        <Button onClick={() => void logOut()}>Log out here</Button>
      </div>
    </div>
  )
}
