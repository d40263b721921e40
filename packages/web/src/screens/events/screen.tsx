import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { emitEvent, eventsQuery, type EventEntry, type EventFilters } from '../../api/automation.ts'
import { useRefusal } from '../../api/role.ts'
import {
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
  { id: 'at', label: 'Time', width: '84px', cell: (event) => <Time at={event.created_at} /> },
  {
    id: 'topic',
    label: 'Topic',
    width: 'minmax(140px, 1fr)',
    cell: (event) => (
      <button type="button" className="bare link-button" onClick={() => open(event)}>
        {event.topic}
      </button>
    ),
  },
  { id: 'state', label: 'State', width: 'minmax(104px, 1fr)', cell: (event) => <State event={event} /> },
  { id: 'source', label: 'Source', width: '92px', cell: ({ source }) => source },
  { id: 'workflow', label: 'Workflow', width: '130px', cell: (event) => event.workflow_name || '–' },
  {
    id: 'run',
    label: 'Run',
    width: '86px',
    cell: ({ run_id: run }) =>
      run === '' ? <span className="muted">–</span> : <Link href={`/runs/${run}`}>{run.slice(0, 8)}</Link>,
  },
  { id: 'data', label: 'Data', width: 'minmax(220px, 3fr)', cell: ({ data }) => <code>{data}</code> },
  { id: 'name', label: 'Name', width: '140px', hidden: true, cell: ({ name }) => name },
  { id: 'type', label: 'Type of data', width: '110px', hidden: true, cell: (event) => event.data_type },
  { id: 'workspace', label: 'Workspace', width: '140px', hidden: true, cell: ({ workspace }) => workspace },
]

const EventDialog = ({ event, onClose }: { event: EventEntry | undefined; onClose: () => void }) => (
  <Dialog wide open={event !== undefined} onClose={onClose} title={event?.topic ?? ''}>
    {event ? (
      <>
        {event.error === '' ? null : <p className="tone-bad">■ {event.error}</p>}
        <KeyValues
          facts={[
            ['Time', new Date(event.created_at).toLocaleString()],
            ['State', event.processed ? 'processed' : 'waiting'],
            ['Source', event.source],
            ['Name', event.name === event.topic ? '' : event.name],
            ['Type of data', event.data_type],
            [
              'Workflow',
              event.workflow_name === '' ? (
                ''
              ) : (
                <Link key="workflow" href={`/workflows/${encodeURIComponent(event.workflow_name)}`}>
                  {event.workflow_name}
                </Link>
              ),
            ],
            [
              'Run',
              event.run_id === '' ? (
                ''
              ) : (
                <Link key="run" href={`/runs/${event.run_id}`}>
                  {event.run_id}
                </Link>
              ),
            ],
            ['Workspace', event.workspace],
            ['Id', event.event_id],
          ]}
        />
        <JsonView value={event.data} label="Data of the event" />
        <div className="dialog-actions line">
          <CopyButton text={event.data} label="the data" />
          <Link
            className="button button-plain"
            href={`/triggers?view=test&topic=${encodeURIComponent(event.topic)}`}
          >
            Test triggers with this topic
          </Link>
        </div>
      </>
    ) : null}
  </Dialog>
)

const EmitForm = () => {
  const [topic, setTopic] = useState('')
  const [source, setSource] = useState('')
  const [data, setData] = useState('{}')
  const { value, problem } = jsonObject(data)
  const body = { topic, data: value ?? {}, ...(source === '' ? {} : { source }) }
  const emit = useMutation({ mutationFn: () => emitEvent(body) })
  const started = emit.data?.triggered_workflows
  return (
    <Form onSubmit={() => emit.mutate()} error={emit.error}>
      <Field
        name="topic"
        label="Topic"
        placeholder="custom.build"
        required
        value={topic}
        autoComplete="off"
        onChange={(event) => setTopic(event.currentTarget.value)}
      />
      <Field
        name="source"
        label="Source"
        placeholder="api"
        value={source}
        autoComplete="off"
        onChange={(event) => setSource(event.currentTarget.value)}
      />
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
  const [emitting, setEmitting] = useState(false)
  const refusal = useRefusal('operator')
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
          <Button kind="primary" refusal={refusal} onClick={() => setEmitting(true)}>
            Emit an event
          </Button>
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
      <EventDialog event={shown} onClose={() => setShown(undefined)} />
      <Dialog wide keep open={emitting} onClose={() => setEmitting(false)} title="Emit an event">
        <EmitForm />
      </Dialog>
    </Page>
  )
}
