import { answer, api, type Schemas } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useState } from 'react'
import { eventsQuery, type EventEntry, type EventFilters } from '../../api/automation.ts'
import {
  LinkButton,
  Opener,
  workflowLink,
  runLink,
  Badge,
  Button,
  Commands,
  CopyButton,
  Dialog,
  ErrorPanel,
  Field,
  FilteredList,
  Form,
  JsonField,
  jsonObject,
  JsonView,
  KeyValues,
  Link,
  Page,
  Time,
  useFilters,
  useList,
  column,
  type Column,
  type Filter,
} from '../../ui/index.ts'

const FILTERS: readonly Filter[] = [
  {
    name: 'topic',
    label: 'Topic or glob',
    suggestions: [
      'run.*',
      'step.*',
      'asset.*',
      'vuln.found',
      'schedule.triggered',
      'webhook.received',
      'custom.*',
    ],
  },
  { name: 'source', label: 'Source', suggestions: ['executor', 'scheduler', 'api'] },
  { name: 'workflow_name', label: 'Workflow' },
  { name: 'workspace', label: 'Workspace' },
  { name: 'run_id', label: 'Run' },
  { name: 'name', label: 'Name' },
  { name: 'processed', label: 'Processed', options: ['true', 'false'] },
]
const NAMES = FILTERS.map(({ name }) => name)

const State = ({ event: { processed, error } }: { event: EventEntry }) =>
  error !== '' ? (
    <span title={error}>
      <Badge tone="bad">{error}</Badge>
    </span>
  ) : (
    <Badge tone={processed ? 'good' : 'wait'}>{processed ? 'processed' : 'waiting'}</Badge>
  )

const columns = (open: (event: EventEntry) => void): readonly Column<EventEntry>[] => [
  column('at', 'Time', '84px', (event) => <Time at={event.created_at} />),
  column('topic', 'Topic', 'minmax(140px, 1fr)', (event) => (
    <button type="button" className="bare link-button" onClick={() => open(event)}>
      {event.topic}
    </button>
  )),
  column('state', 'State', 'minmax(104px, 1fr)', (event) => <State event={event} />),
  column('source', 'Source', '92px', 'source'),
  column('workflow', 'Workflow', '130px', (event) => event.workflow_name || '–'),
  column('run', 'Run', '86px', ({ run_id: run }) =>
    run === '' ? <span className="muted">–</span> : <Link href={`/runs/${run}`}>{run.slice(0, 8)}</Link>,
  ),
  column('data', 'Data', 'minmax(220px, 3fr)', ({ data }) => <code>{data}</code>),
  column('name', 'Name', { width: '140px', hidden: true }, 'name'),
  column('type', 'Type of data', { width: '110px', hidden: true }, 'data_type'),
  column('workspace', 'Workspace', { width: '140px', hidden: true }, 'workspace'),
]

const EventDialog = ({ event, onClose }: { event: EventEntry; onClose: () => void }) => (
  <Dialog wide onClose={onClose} title={event.topic}>
    {event.error === '' ? null : <p className="tone-bad">■ {event.error}</p>}
    <KeyValues
      facts={{
        Time: new Date(event.created_at).toLocaleString(),
        State: event.processed ? 'processed' : 'waiting',
        Source: event.source,
        Name: event.name === event.topic ? '' : event.name,
        'Type of data': event.data_type,
        Workflow: workflowLink(event.workflow_name),
        Run: runLink(event.run_id),
        Workspace: event.workspace,
        Id: event.event_id,
      }}
    />
    <JsonView value={event.data} label="Data of the event" />
    <div className="dialog-actions line">
      <CopyButton text={event.data} label="the data" />
      <LinkButton to={`/triggers?view=test&topic=${encodeURIComponent(event.topic)}`}>
        Test triggers with this topic
      </LinkButton>
    </div>
  </Dialog>
)

const EmitForm = () => {
  const [data, setData] = useState('{}')
  const { value, problem } = jsonObject(data)
  const emit = useAct((body: Schemas['EmitEvent']) => answer(api.POST('/events/emit', { body })))
  const started = emit.data?.triggered_workflows
  const send = ({ topic = '', source = '' }: Readonly<Record<string, string>>) =>
    emit.mutate({ topic, data: value ?? {}, ...(source === '' ? {} : { source }) })
  return (
    <Form onSubmit={send} error={emit.error}>
      <Field name="topic" label="Topic" placeholder="custom.build" required />
      <Field name="source" label="Source" placeholder="api" />
      <JsonField name="data" label="Data" value={data} onChange={setData} />
      {emit.error ? <ErrorPanel error={emit.error} /> : null}
      <div role="status">
        {started === undefined ? null : started.length === 0 ? (
          <p>The event is in the log. It started no workflow.</p>
        ) : (
          <p>
            It started{' '}
            {started.map((name, index) => (
              <span key={name}>
                {index === 0 ? '' : ', '}
                <Link href={`/runs?workflow=${encodeURIComponent(name)}`}>{name}</Link>
              </span>
            ))}
            .
          </p>
        )}
      </div>
      <div className="dialog-actions line">
        <Button type="submit" kind="primary" busy={emit.isPending} disabled={problem !== undefined}>
          Emit
        </Button>
      </div>
    </Form>
  )
}

export const Screen = () => {
  const [{ live, ...filters }, set] = useFilters(['live', ...NAMES])
  const [shown, setShown] = useState<EventEntry>()
  const paused = live === 'off'
  const { processed, ...texts } = filters as Record<string, string>
  const query = {
    ...texts,
    ...(processed === undefined ? {} : { processed: processed === 'true' }),
  } as EventFilters
  const list = useList({ ...eventsQuery(query), enabled: ({ state }) => !paused || state.data === undefined })
  const search = new URLSearchParams(filters as Record<string, string>).toString()
  return (
    <Page
      title="Events"
      actions={
        <>
          <Button aria-pressed={paused} onClick={() => set({ live: paused ? '' : 'off' })}>
            {paused ? '▶ Follow' : '❚❚ Pause'}
          </Button>
          <Commands
            lines={[
              {
                title: 'List these events',
                cli: ['events', 'list', ...(texts['topic'] ? ['--topic', texts['topic']] : [])],
                api: ['GET', `/event-logs${search && `?${search}`}`],
              },
              { title: 'Follow the events', cli: ['events', 'follow'] },
            ]}
          />
          <Opener kind="primary" needs="operator" label="Emit an event">
            {(close) => (
              <Dialog wide keep onClose={close} title="Emit an event">
                <EmitForm />
              </Dialog>
            )}
          </Opener>
        </>
      }
    >
      <FilteredList
        screen="events"
        filters={FILTERS}
        label="Events"
        columns={columns(setShown)}
        list={{
          ...list,
          loadMore: () => {
            // The list below the reader must not move.
            set({ live: 'off' })
            list.loadMore()
          },
        }}
        keyOf={({ id }) => String(id)}
        onOpen={setShown}
        none="No events"
        advice="Events appear when runs start."
      >
        <p className="muted small" role="status">
          {paused ? 'Paused: new events do not appear.' : 'Following: new events appear at the top.'}
        </p>
      </FilteredList>
      {shown ? <EventDialog event={shown} onClose={() => setShown(undefined)} /> : null}
    </Page>
  )
}
