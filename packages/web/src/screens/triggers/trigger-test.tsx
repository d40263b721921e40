import { useAct } from '../../api/act.ts'
import { useState } from 'react'
import {
  lastEvent,
  testTriggers,
  triggersQuery,
  type TestRequest,
  type TestResult,
  type Trigger,
} from '../../api/automation.ts'
import { useRefusal } from '../../api/role.ts'
import {
  Badge,
  Button,
  CommandLines,
  EmptyState,
  ErrorPanel,
  Form,
  Combobox,
  JsonField,
  jsonObject,
  JsonView,
  KeyValues,
  Link,
  SelectField,
  Time,
  toast,
  toastError,
  useFilters,
  useList,
} from '../../ui/index.ts'

const TOPICS = [
  'run.started',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'job.ended',
  'step.completed',
  'step.failed',
  'asset.discovered',
  'asset.updated',
  'vuln.back',
  'vuln.found',
  'schedule.triggered',
  'schedule.ended',
  'findings.digest',
  'findings.reminder',
  'webhook.received',
  'custom.build',
]

const isGlob = (topic: string): boolean => /[*?[]/.test(topic)

const Result = ({ result }: { result: TestResult }) => {
  const { topic, filters, dedupe, overlap, reasons, run } = result
  return (
    <article className="panel pad stack">
      <header className="line spread">
        <h3>
          {result.name} <span className="muted">of {result.workflow}</span>
        </h3>
        <Badge tone={result.would_start ? 'good' : 'off'}>
          {result.would_start ? 'would start' : 'would not start'}
        </Badge>
      </header>
      {reasons.length === 0 ? null : (
        <ul className="bullets">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {result.type === 'event' ? (
        <p>
          <Badge tone={topic.matches ? 'good' : 'bad'}>
            {topic.matches ? 'the topic matches' : 'the topic does not match'}
          </Badge>{' '}
          <code>{topic.pattern || 'all topics'}</code>
        </p>
      ) : null}
      {filters.length === 0 ? null : (
        <ol className="list badged stack gap-6" aria-label="Filters">
          {filters.map(({ expression, passed, result: value, error }, index) => (
            <li key={index}>
              <Badge tone={passed ? 'good' : 'bad'}>
                {passed ? 'true' : error === '' ? 'false' : 'error'}
              </Badge>
              <div>
                <code>{expression}</code>
                {error === '' && typeof value === 'boolean' ? null : (
                  <p className="muted">
                    {error === '' ? `is ${JSON.stringify(value) ?? 'undefined'}` : error}
                  </p>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
      <KeyValues
        facts={{
          'Dedupe key': dedupe ? <code>{dedupe.key}</code> : '',
          'Blocked until': dedupe?.blocked_until ? <Time at={dedupe.blocked_until} /> : '',
          Overlap: overlap.policy,
          'Open executions': overlap.open > 0 ? overlap.open : '',
          Runs: run?.target_count,
          Where: run?.run_mode,
          Priority: run?.priority,
          Workspace: run?.workspace,
        }}
      />
      {run && run.targets.length > 0 ? (
        <details open={run.targets.length <= 5 || undefined}>
          <summary>Targets</summary>
          <ul className="bullets">
            {run.targets.map((target) => (
              <li key={target}>
                <code>{target || '(none)'}</code>
              </li>
            ))}
          </ul>
          {run.target_count > run.targets.length ? <p className="muted">and more</p> : null}
        </details>
      ) : null}
      {run && Object.keys(run.params).length > 0 ? (
        <JsonView value={run.params} label="Params of the runs" />
      ) : null}
    </article>
  )
}

const Chooser = ({
  value,
  onChange,
}: {
  value: string
  onChange: (trigger: Trigger | undefined) => void
}) => {
  const { rows = [] } = useList(triggersQuery({}))
  return (
    <SelectField
      name="key"
      label="Trigger"
      value={value}
      onChange={(event) => onChange(rows.find(({ key }) => key === event.currentTarget.value))}
      none="all whose topic matches"
      options={rows
        .filter(({ key }) => key !== '')
        .map(({ key, name, workflow, type }) => ({
          value: key,
          label: `${workflow.name}: ${name} (${type})`,
        }))}
    />
  )
}

/** Tells what triggers would do with an event that the user writes. */
export const TriggerTest = () => {
  const [{ key = '', topic = '' }, set] = useFilters(['key', 'topic'])
  const [data, setData] = useState('{\n  "host": "example.com"\n}')
  const refusal = useRefusal('operator')
  const { value, problem } = jsonObject(data)
  const request: TestRequest = {
    ...(key === '' ? {} : { key }),
    event: { ...(topic === '' ? {} : { topic }), data: value ?? {} },
  }
  const test = useAct(() => testTriggers(request))
  const example = useAct(() => lastEvent(topic || '*'), {
    done: (event) => {
      if (!event) return toast('There is no such event in the log yet.', 'bad')
      if (topic === '' || isGlob(topic)) set({ topic: event.topic })
      setData(JSON.stringify(JSON.parse(event.data), undefined, 2))
    },
    failed: toastError,
  })
  const results = test.data?.data
  return (
    <div className="columns trigger-test">
      <div className="stack form">
        <Form onSubmit={() => test.mutate()} error={test.error}>
          <Chooser
            value={key}
            onChange={(trigger) => {
              test.reset()
              set({
                key: trigger?.key ?? '',
                ...(trigger && trigger.topic !== '' && !isGlob(trigger.topic)
                  ? { topic: trigger.topic }
                  : {}),
              })
            }}
          />
          <Combobox
            name="event.topic"
            label="Topic of the event"
            value={topic}
            suggestions={TOPICS}
            placeholder="custom.build"
            onChange={(event) => set({ topic: event.currentTarget.value.trim() })}
          />
          <JsonField name="event.data" label="Data of the event" value={data} onChange={setData} rows={12} />
          <div className="page-actions line">
            <Button
              type="submit"
              kind="primary"
              busy={test.isPending}
              disabled={problem !== undefined}
              refusal={refusal}
            >
              Test
            </Button>
            <Button busy={example.isPending} onClick={() => example.mutate()}>
              Take the newest event{topic === '' ? '' : ` of ${topic}`}
            </Button>
          </div>
          <p className="muted">Nothing is started or stored.</p>
        </Form>
        <section className="commands start-lines" aria-label="The same on the command line">
          <CommandLines lines={[{ title: 'curl', api: ['POST', '/triggers/test', request] }]} />
        </section>
      </div>
      <section aria-label="Result" aria-live="polite" className="stack">
        {test.error ? <ErrorPanel error={test.error} /> : null}
        {results?.map((result) => (
          <Result key={result.key} result={result} />
        ))}
        {results?.length === 0 ? (
          <EmptyState title="No trigger listens to this topic">
            See the <Link href="/triggers">triggers</Link> and their topics.
          </EmptyState>
        ) : null}
        {results || test.error ? null : (
          <EmptyState title="No test yet">
            Write an event, or take one of the log, and press Test: the answer explains each filter.
          </EmptyState>
        )}
      </section>
    </div>
  )
}
