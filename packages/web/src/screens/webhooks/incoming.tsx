import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createIncoming, incomingQuery, removeIncoming } from '../../api/automation.ts'
import {
  Button,
  Confirm,
  CopyButton,
  DataTable,
  EmptyState,
  ErrorPanel,
  Field,
  Form,
  Link,
  Time,
  toast,
} from '../../ui/index.ts'
import { SecretDialog, type Made } from './secret.tsx'

const KEY = ['webhooks']

/** URLs of this server that accept events. */
export const Incoming = () => {
  const { data, error, refetch } = useQuery(incomingQuery)
  const [name, setName] = useState('')
  const [made, setMade] = useState<Made>()
  const queries = useQueryClient()
  const create = useMutation({
    mutationFn: () => createIncoming(name.trim()),
    onSuccess: async ({ name: own, secret }) => {
      setMade({ name: own, secret })
      setName('')
      await queries.invalidateQueries({ queryKey: KEY })
    },
  })
  return (
    <div className="stack">
      <Form onSubmit={() => create.mutate()} error={create.error}>
        <div className="form-line">
          <Field
            name="name"
            label="Name of a new webhook"
            placeholder="ci"
            value={name}
            required
            autoComplete="off"
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            title="Letters, digits and . _ -"
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" kind="primary" busy={create.isPending}>
            Create
          </Button>
        </div>
        {create.error ? <ErrorPanel error={create.error} /> : null}
      </Form>
      <DataTable
        label="Incoming webhooks"
        list={{ rows: data, total: data?.length, error, retry: () => void refetch() }}
        keyOf={(one) => one.name}
        columns={[
          {
            id: 'name',
            label: 'Name',
            width: 'minmax(100px, 1fr)',
            cell: (one) => <strong>{one.name}</strong>,
          },
          {
            id: 'url',
            label: 'URL',
            width: 'minmax(260px, 3fr)',
            cell: ({ path }) => (
              <span className="command">
                <code className="clip">{window.location.origin + path}</code>
                <CopyButton text={window.location.origin + path} label="the URL" />
              </span>
            ),
          },
          { id: 'count', label: 'Accepted', width: '76px', align: 'end', cell: (one) => one.received_count },
          { id: 'last', label: 'Last', width: '84px', cell: (one) => <Time at={one.last_received_at} /> },
          { id: 'created', label: 'Created', width: '84px', cell: (one) => <Time at={one.created_at} /> },
          {
            id: 'events',
            label: 'Events',
            width: '64px',
            cell: (one) => (
              <Link href={`/events?topic=webhook.received&name=${encodeURIComponent(one.name)}`}>show</Link>
            ),
          },
          {
            id: 'actions',
            label: 'Actions',
            width: '90px',
            cell: (one) => (
              <Confirm
                trigger="Delete"
                title={`Delete ${one.name}?`}
                action="Delete the webhook"
                danger
                onConfirm={async () => {
                  toast((await removeIncoming(one.name)).message)
                  await queries.invalidateQueries({ queryKey: KEY })
                }}
              >
                <p>Requests to it are refused from then on.</p>
              </Confirm>
            ),
          },
        ]}
        empty={
          <EmptyState title="No incoming webhooks">
            Create one: signed requests to its URL become events with the topic webhook.received.
          </EmptyState>
        }
      />
      <SecretDialog made={made} onClose={() => setMade(undefined)} />
    </div>
  )
}
