import { useState } from 'react'
import { answer, api, byId } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import {
  changeSubscription,
  subscriptionsQuery,
  type Subscription,
  type SubscriptionRequest,
} from '../../api/automation.ts'
import { SEVERITIES } from '../../api/findings.ts'
import {
  Badge,
  choice,
  DataTable,
  deleteItem,
  FormDialog,
  lines,
  Link,
  linesOf,
  menuColumn,
  Opener,
  text,
  textsOf,
  Time,
  toast,
  toastError,
  useWholeList,
  column,
  type Column,
  type FieldRow,
  type Texts,
} from '../../ui/index.ts'
import { SecretDialog, type Made } from './secret.tsx'

const FIELDS: readonly FieldRow[] = [
  [
    text('name', 'Name', { required: true }),
    choice('format', 'Format', ['json', 'slack', 'discord', 'teams', 'mail']),
  ],
  [text('url', 'URL', { type: 'url', placeholder: 'https://example.com/hook', required: true })],
  [
    lines('topics', 'Topics or globs, one a line', { placeholder: 'run.*', required: true }),
    lines('filters', 'Filters, one a line; all must be true', {
      placeholder: 'event.data.severity == "critical"',
    }),
  ],
  [
    choice('min_severity', 'Least severity of findings', SEVERITIES.toReversed(), { none: 'any' }),
    choice('report', 'Report of the job', [{ value: 'true', label: 'attached' }], {
      none: 'not attached',
      hint: 'For the format mail.',
    }),
  ],
  [
    lines('template', 'Text of the message (empty: the usual one)', {
      hint: 'Not for the format json. The first line is the subject of a mail.',
      placeholder: '{{event_data.schedule}} ended: {{event_data.outcome}}',
    }),
  ],
]

const requestOf = ({ name = '', url = '', template = '', ...texts }: Texts): SubscriptionRequest => ({
  name,
  url,
  topics: linesOf(texts['topics']),
  filters: linesOf(texts['filters']),
  format: texts['format'] as 'json',
  min_severity: texts['min_severity'] as '',
  template,
  report: texts['report'] === 'true',
})

interface EditorProps {
  readonly subscription?: Subscription
  readonly onClose: () => void
  readonly onMade: (made: Made) => void
}

const Editor = ({ subscription, onClose, onMade }: EditorProps) => (
  <FormDialog
    wide
    keep
    title={subscription ? 'Edit the subscription' : 'New subscription'}
    action={subscription ? 'Save' : 'Create'}
    fields={FIELDS}
    values={textsOf(subscription)}
    refresh={['webhooks']}
    send={async (texts) => {
      const body = requestOf(texts)
      if (subscription) return await changeSubscription(subscription.id, body)
      const { secret, warnings } = await answer(api.POST('/webhook-subscriptions', { body }))
      onMade({ name: body.name, secret })
      return { warnings }
    }}
    onClose={onClose}
  />
)

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
  const [made, setMade] = useState<Made>()
  const { mutate: pause } = useAct(
    ({ id, enabled }: Subscription) => changeSubscription(id, { enabled: !enabled }),
    { refresh: ['webhooks'], failed: toastError },
  )
  const { mutate: test } = useAct(
    async ({ id, name }: Subscription) => ({
      name,
      ...(await answer(api.POST('/webhook-subscriptions/{id}/test', byId(id)))),
    }),
    {
      done: ({ name, delivered, status, problem, ms }) =>
        delivered
          ? toast(`${name} took an example of job.ended: ${status} after ${ms} ms`)
          : toast(`${name} did not take the example: ${problem}`, 'bad'),
      failed: toastError,
    },
  )
  const actions = menuColumn<Subscription>(
    '90px',
    ({ name }) => name,
    (one) => [
      {
        label: 'Edit',
        dialog: (close) => <Editor subscription={one} onClose={close} onMade={setMade} />,
      },
      { label: 'Send a test', onSelect: () => test(one) },
      { label: one.enabled ? 'Pause' : 'Continue', onSelect: () => pause(one) },
      deleteItem('subscription', one.name, {
        refresh: ['webhooks'],
        onConfirm: () => answer(api.DELETE('/webhook-subscriptions/{id}', byId(one.id))),
        text: 'Its deliveries are deleted, too.',
      }),
    ],
  )
  return (
    <div className="stack">
      <div className="line form-line">
        <Opener kind="primary" label="New subscription">
          {(close) => <Editor onClose={close} onMade={setMade} />}
        </Opener>
        <p className="muted">Events are sent to these URLs as signed requests.</p>
      </div>
      <DataTable
        label="Subscriptions"
        columns={[...COLUMNS, actions]}
        list={useWholeList(subscriptionsQuery)}
        keyOf={({ id }) => String(id)}
        none="No subscriptions"
        advice="Create one to send events to a URL."
      />
      {made ? <SecretDialog made={made} onClose={() => setMade(undefined)} /> : null}
    </div>
  )
}
