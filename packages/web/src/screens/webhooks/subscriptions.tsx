import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
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
  type Column,
} from '../../ui/index.ts'
import { SecretDialog, type Made } from './secret.tsx'

const KEY = ['webhooks']
const SEVERITIES = ['', 'info', 'low', 'medium', 'high', 'critical'] as const

interface EditorProps {
  readonly subscription?: Subscription
  readonly onDone: (made?: Made) => void
}

const Editor = ({ subscription, onDone }: EditorProps) => {
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: async (values: Readonly<Record<string, string>>): Promise<Made | undefined> => {
      const body: SubscriptionRequest = {
        name: values['name'] ?? '',
        url: values['url'] ?? '',
        topics: linesOf(values['topics']),
        filters: linesOf(values['filters']),
        format: (values['format'] ?? 'json') as 'json',
        min_severity: (values['min_severity'] ?? '') as '',
        template: values['template'] ?? '',
        report: values['report'] === 'yes',
      }
      if (subscription) {
        toast((await changeSubscription(subscription.id, body)).message)
        return undefined
      }
      const { secret } = await createSubscription(body)
      return { name: body.name, secret }
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: KEY })
      onDone(made)
    },
  })
  return (
    <Form onSubmit={(values) => save.mutate(values)} error={save.error}>
      <div className="field-row">
        <Field name="name" label="Name" defaultValue={subscription?.name} required autoComplete="off" />
        <SelectField
          name="format"
          label="Format"
          defaultValue={subscription?.format ?? 'json'}
          options={['json', 'slack', 'discord', 'teams', 'mail'].map((value) => ({ value, label: value }))}
        />
      </div>
      <Field
        name="url"
        label="URL"
        type="url"
        placeholder="https://example.com/hook"
        defaultValue={subscription?.url}
        required
        autoComplete="off"
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
          options={SEVERITIES.map((value) => ({ value, label: value === '' ? 'any' : value }))}
        />
        <SelectField
          name="report"
          label="Report of the job"
          hint="For the format mail."
          defaultValue={subscription?.report ? 'yes' : ''}
          options={[
            { value: '', label: 'not attached' },
            { value: 'yes', label: 'attached' },
          ]}
        />
      </div>
      <TextField
        name="template"
        label="Text of the message (empty: the usual one)"
        hint="Not for the format json. The first line is the subject of a mail."
        placeholder="{{event_data.schedule}} ended: {{event_data.outcome}}"
        defaultValue={subscription?.template}
      />
      <FormActions call={save} onBack={() => onDone()}>
        {subscription ? 'Save' : 'Create'}
      </FormActions>
    </Form>
  )
}

const COLUMNS: readonly Column<Subscription>[] = [
  { id: 'name', label: 'Name', width: 'minmax(120px, 1fr)', cell: ({ name }) => <strong>{name}</strong> },
  { id: 'url', label: 'URL', width: 'minmax(200px, 2fr)', cell: ({ url }) => <code title={url}>{url}</code> },
  {
    id: 'topics',
    label: 'Topics',
    width: 'minmax(120px, 1fr)',
    cell: ({ topics }) => <code title={topics.join('\n')}>{topics.join(' ')}</code>,
  },
  { id: 'filters', label: 'Filters', width: '60px', align: 'end', cell: ({ filters }) => filters.length },
  { id: 'format', label: 'Format', width: '72px', cell: ({ format }) => format },
  {
    id: 'state',
    label: 'State',
    width: '96px',
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'off'}>{enabled ? 'active' : 'paused'}</Badge>,
  },
  { id: 'changed', label: 'Changed', width: '84px', cell: (one) => <Time at={one.updated_at} /> },
  {
    id: 'deliveries',
    label: 'Deliveries',
    width: '84px',
    cell: ({ id }) => <Link href={`/webhooks?tab=deliveries&subscription_id=${id}`}>show</Link>,
  },
]

/** URLs that receive events. */
export const Subscriptions = () => {
  const { data, error, refetch } = useQuery(subscriptionsQuery)
  const [editing, setEditing] = useState<Subscription | 'new'>()
  const [removing, setRemoving] = useState<Subscription>()
  const [made, setMade] = useState<Made>()
  const queries = useQueryClient()
  const pause = async ({ id, enabled }: Subscription) => {
    try {
      await changeSubscription(id, { enabled: !enabled })
    } catch (reason) {
      toast(reason instanceof Error ? reason.message : String(reason), 'bad')
    }
    await queries.invalidateQueries({ queryKey: KEY })
  }
  const test = async ({ id, name }: Subscription) => {
    try {
      const { delivered, status, problem, ms } = await testSubscription(id)
      if (delivered) toast(`${name} took an example of job.ended: ${status} after ${ms} ms`)
      else toast(`${name} did not take the example: ${problem}`, 'bad')
    } catch (reason) {
      toast(reason instanceof Error ? reason.message : String(reason), 'bad')
    }
  }
  const actions: Column<Subscription> = {
    id: 'actions',
    label: 'Actions',
    width: '90px',
    cell: (one) => (
      <Menu
        label={`Actions of ${one.name}`}
        items={[
          { label: 'Edit', onSelect: () => setEditing(one) },
          { label: 'Send a test', onSelect: () => void test(one) },
          { label: one.enabled ? 'Pause' : 'Continue', onSelect: () => void pause(one) },
          { label: 'Delete', danger: true, onSelect: () => setRemoving(one) },
        ]}
      >
        Actions ▾
      </Menu>
    ),
  }
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
        onConfirm={async () => {
          if (removing) toast((await removeSubscription(removing.id)).message)
          await queries.invalidateQueries({ queryKey: KEY })
        }}
      >
        <p>Its deliveries are deleted, too.</p>
      </ConfirmDialog>
    </div>
  )
}
