import { answer, api, byName } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useState } from 'react'
import { incomingQuery } from '../../api/automation.ts'
import type { DataOf } from '../../api/list.ts'
import {
  useWholeList,
  Button,
  Confirm,
  deletion,
  CopyButton,
  DataTable,
  ErrorPanel,
  Field,
  Form,
  Link,
  Time,
  column,
} from '../../ui/index.ts'
import { SecretDialog, type Made } from './secret.tsx'

/** URLs of this server that accept events. */
export const Incoming = () => {
  const [name, setName] = useState('')
  const [made, setMade] = useState<Made>()
  const create = useAct(() => answer(api.POST('/incoming-webhooks', { body: { name: name.trim() } })), {
    refresh: ['webhooks'],
    done: (hook) => {
      setMade(hook)
      setName('')
    },
  })
  return (
    <div className="stack">
      <Form onSubmit={() => create.mutate()} error={create.error}>
        <div className="line form-line">
          <Field
            name="name"
            label="Name of a new webhook"
            placeholder="ci"
            value={name}
            required
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
      <DataTable<DataOf<typeof incomingQuery>[number]>
        label="Incoming webhooks"
        list={useWholeList(incomingQuery)}
        keyOf={(one) => one.name}
        columns={[
          column('name', 'Name', 'minmax(100px, 1fr)', (one) => <strong>{one.name}</strong>),
          column('url', 'URL', 'minmax(260px, 3fr)', ({ path }) => (
            <span className="command">
              <code className="clip">{window.location.origin + path}</code>
              <CopyButton text={window.location.origin + path} label="the URL" />
            </span>
          )),
          column('count', 'Accepted', { width: '76px', align: 'end' }, 'received_count'),
          column('last', 'Last', '84px', (one) => <Time at={one.last_received_at} />),
          column('created', 'Created', '84px', (one) => <Time at={one.created_at} />),
          column('events', 'Events', '64px', (one) => (
            <Link href={`/events?topic=webhook.received&name=${encodeURIComponent(one.name)}`}>show</Link>
          )),
          column('actions', 'Actions', '90px', (one) => (
            <Confirm
              {...deletion('webhook', one.name)}
              refresh={['webhooks']}
              onConfirm={() => answer(api.DELETE('/incoming-webhooks/{name}', byName(one.name)))}
              text="Requests to it are refused from then on."
            />
          )),
        ]}
        none="No incoming webhooks"
        advice="Create one: signed requests to its URL become events with the topic webhook.received."
      />
      {made ? <SecretDialog made={made} onClose={() => setMade(undefined)} /> : null}
    </div>
  )
}
