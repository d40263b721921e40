import { useQuery } from '@tanstack/react-query'
import { endSession, sessionsQuery } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import { sessionQuery, useLogOut } from '../../api/session.ts'
import { column, Badge, Button, Confirm, DataTable, EmptyState, Time, type Column } from '../../ui/index.ts'

type Session = Schemas['OwnSession']

const End = ({ id }: { id: string }) => (
  <Confirm
    trigger="Log out"
    title="Log out that browser?"
    action="Log out"
    danger
    refresh={['sessions']}
    onConfirm={async () => {
      await endSession(id)
      return 'The login was ended.'
    }}
  >
    <p>It needs another login for its next step.</p>
  </Confirm>
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
  const { data, error, refetch } = useQuery(sessionsQuery)
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
        list={{ rows: data, total: data?.length, error, retry: () => void refetch() }}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No logins" />}
      />
      <div className="page-actions line">
        <Button onClick={() => void logOut()}>Log out here</Button>
      </div>
    </div>
  )
}
