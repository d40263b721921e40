import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeSubscription,
  createSubscription,
  removeSubscription,
  subscriptionsQuery,
  type Subscription,
  type SubscriptionRequest,
  testSubscription,
} from '../../api/automation.ts'
import { SEVERITIES } from '../../api/findings.ts'
import {
  Badge,
  Button,
  ConfirmDialog,
  DataTable,
  Dialog,
  EmptyState,
  Field,
  Form,
  FormActions,
  Link,
  linesOf,
  Menu,
  SelectField,
  TextField,
  Time,
  toast,
  toastError,
  column,
  type Column,
} from '../../ui/index.ts'
import { SecretDialog, type Made } from './secret.tsx'

interface EditorProps {
  readonly subscription?: Subscription
  readonly onDone: (made?: Made) => void
}

const Editor = ({ subscription, onDone }: EditorProps) => {
  const send = async (values: Readonly<Record<string, string>>): Promise<Made | undefined> => {
    const { name = '', url = '', format = 'json', min_severity: severity = '', template = '' } = values
    const body: SubscriptionRequest = {
      name,
      url,
      topics: linesOf(values['topics']),
      filters: linesOf(values['filters']),
      format: format as 'json',
      min_severity: severity as '',
      template,
      report: values['report'] === 'yes',
    }
    if (!subscription) return { name, secret: (await createSubscription(body)).secret }
    toast((await changeSubscription(subscription.id, body)).message)
    return undefined
  }
  const save = useAct(send, { refresh: ['webhooks'], done: onDone })
  return (
    <Form onSubmit={(values) => save.mutate(values)} error={save.error}>
      <div className="field-row">
        <Field name="name" label="Name" defaultValue={subscription?.name} required />
        <SelectField
          name="format"
          label="Format"
          defaultValue={subscription?.format ?? 'json'}
          options={['json', 'slack', 'discord', 'teams', 'mail']}
        />
      </div>
      <Field
        name="url"
        label="URL"
        type="url"
        placeholder="https://example.com/hook"
        defaultValue={subscription?.url}
        required
      />
      <div className="field-row">
        <TextField
          name="topics"
          label="Topics or globs, one a line"
          placeholder="run.*"
          defaultValue={subscription?.topics.join('\n')}
          required
        />
        <TextField
          name="filters"
          label="Filters, one a line; all must be true"
          placeholder={'event.data.severity == "critical"'}
          defaultValue={subscription?.filters.join('\n')}
        />
      </div>
      <div className="field-row">
        <SelectField
          name="min_severity"
          label="Least severity of findings"
          defaultValue={subscription?.min_severity ?? ''}
          none="any"
          options={SEVERITIES.toReversed()}
        />
        <SelectField
          name="report"
          label="Report of the job"
          hint="For the format mail."
          defaultValue={subscription?.report ? 'yes' : ''}
          none="not attached"
          options={[{ value: 'yes', label: 'attached' }]}
        />
      </div>
      <TextField
        name="template"
        label="Text of the message (empty: the usual one)"
        hint="Not for the format json. The first line is the subject of a mail."
        placeholder="{{event_data.schedule}} ended: {{event_data.outcome}}"
        defaultValue={subscription?.template}
      />
      <FormActions call={save} onBack={() => onDone()} action={subscription ? 'Save' : 'Create'} />
    </Form>
  )
}

const COLUMNS: readonly Column<Subscription>[] = [
  column('name', 'Name', 'minmax(120px, 1fr)', ({ name }) => <strong>{name}</strong>),
  column('url', 'URL', 'minmax(200px, 2fr)', ({ url }) => <code title={url}>{url}</code>),
  column('topics', 'Topics', 'minmax(120px, 1fr)', ({ topics }) => (
    <code title={topics.join('\n')}>{topics.join(' ')}</code>
  )),
  column('filters', 'Filters', { width: '60px', align: 'end' }, ({ filters }) => filters.length),
  column('format', 'Format', '72px', 'format'),
  column('state', 'State', '96px', ({ enabled }) => (
    <Badge tone={enabled ? 'good' : 'off'}>{enabled ? 'active' : 'paused'}</Badge>
  )),
  column('changed', 'Changed', '84px', (one) => <Time at={one.updated_at} />),
  column('deliveries', 'Deliveries', '84px', ({ id }) => (
    <Link href={`/webhooks?tab=deliveries&subscription_id=${id}`}>show</Link>
  )),
]

/** URLs that receive events. */
export const Subscriptions = () => {
  const { data, error, refetch } = useQuery(subscriptionsQuery)
  const [editing, setEditing] = useState<Subscription | 'new'>()
  const [removing, setRemoving] = useState<Subscription>()
  const [made, setMade] = useState<Made>()
  const { mutate: pause } = useAct(
    ({ id, enabled }: Subscription) => changeSubscription(id, { enabled: !enabled }),
    { refresh: ['webhooks'], failed: toastError },
  )
  const { mutate: test } = useAct(
    async ({ id, name }: Subscription) => ({ name, ...(await testSubscription(id)) }),
    {
      done: ({ name, delivered, status, problem, ms }) =>
        delivered
          ? toast(`${name} took an example of job.ended: ${status} after ${ms} ms`)
          : toast(`${name} did not take the example: ${problem}`, 'bad'),
      failed: toastError,
    },
  )
  const actions: Column<Subscription> = column('actions', 'Actions', '90px', (one) => (
    <Menu
      label={`Actions of ${one.name}`}
      items={[
        { label: 'Edit', onSelect: () => setEditing(one) },
        { label: 'Send a test', onSelect: () => test(one) },
        { label: one.enabled ? 'Pause' : 'Continue', onSelect: () => pause(one) },
        { label: 'Delete', danger: true, onSelect: () => setRemoving(one) },
      ]}
    >
      Actions ▾
    </Menu>
  ))
  return (
    <div className="stack">
      <div className="form-line">
        <Button kind="primary" onClick={() => setEditing('new')}>
          New subscription
        </Button>
        <p className="muted">Events are sent to these URLs as signed requests.</p>
      </div>
      <DataTable
        label="Subscriptions"
        columns={[...COLUMNS, actions]}
        list={{ rows: data, total: data?.length, error, retry: () => void refetch() }}
        keyOf={({ id }) => String(id)}
        empty={<EmptyState title="No subscriptions">Create one to send events to a URL.</EmptyState>}
      />
      <Dialog
        wide
        keep
        open={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={editing === 'new' ? 'New subscription' : 'Edit the subscription'}
      >
        <Editor
          {...(editing === 'new' || editing === undefined ? {} : { subscription: editing })}
          onDone={(next) => {
            setEditing(undefined)
            setMade(next)
          }}
        />
      </Dialog>
      <SecretDialog made={made} onClose={() => setMade(undefined)} />
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Delete ${removing?.name ?? ''}?`}
        action="Delete the subscription"
        danger
        refresh={['webhooks']}
        onConfirm={() => removeSubscription(removing?.id ?? 0)}
      >
        <p>Its deliveries are deleted, too.</p>
      </ConfirmDialog>
    </div>
  )
}
