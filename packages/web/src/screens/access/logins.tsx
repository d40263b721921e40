import { useQuery, useQueryClient } from '@tanstack/react-query'
import { endSession, sessionsQuery } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import { sessionQuery, useLogOut } from '../../api/session.ts'
import { Badge, Button, Confirm, DataTable, EmptyState, Time, toast, type Column } from '../../ui/index.ts'

type Session = Schemas['OwnSession']

const End = ({ id }: { id: string }) => {
  const queries = useQueryClient()
  return (
    <Confirm
      trigger="Log out"
      title="Log out that browser?"
      action="Log out"
      danger
      onConfirm={async () => {
        await endSession(id)
        toast('The login was ended.')
        await queries.invalidateQueries({ queryKey: ['sessions'] })
      }}
    >
      <p>It needs another login for its next step.</p>
    </Confirm>
  )
}

const COLUMNS: readonly Column<Session>[] = [
  {
    id: 'id',
    label: 'Login',
    width: 'minmax(180px, 1fr)',
    cell: ({ id, current }) => (
      <>
        <code>{id}</code> {current ? <Badge tone="good">this browser</Badge> : null}
      </>
    ),
  },
  { id: 'created', label: 'Logged in', width: '100px', cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'used', label: 'Last used', width: '100px', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  { id: 'expires', label: 'Ends', width: '100px', cell: ({ expires_at }) => <Time at={expires_at} /> },
  {
    id: 'actions',
    label: 'Actions',
    width: '100px',
    cell: ({ id, current }) => (current ? null : <End id={id} />),
  },
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
