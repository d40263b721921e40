import { answer, api, byId } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { type Schedule, type ScheduleRequest } from '../../api/automation.ts'
import { workflowNamesQuery, workflowQuery } from '../../api/workflows.ts'
import {
  choice,
  Fields,
  FormActions,
  lines,
  suggest,
  text,
  textsOf,
  type FieldRow,
  type Texts,
  CommandLines,
  Form,
  linesOf,
  say,
} from '../../ui/index.ts'
import { filledParams, ParamFields } from '../workflow/param-fields.tsx'
import { ALL, FULL_EVERY, MAX_AGE, MODES, targetsOf } from '../workflow/start-request.ts'

const CronPreview = lazy(async () => ({ default: (await import('./cron-preview.tsx')).CronPreview }))

const ZONES = ['UTC', Intl.DateTimeFormat().resolvedOptions().timeZone]
const CRONS = ['@hourly', '@daily', '@weekly', '@every 2h', '*/15 * * * *', '0 3 * * *', '0 9 * * 1-5']

const initialTexts = (schedule: Schedule | undefined): Texts => ({
  trigger_type: 'cron',
  timezone: 'UTC',
  missed: 'once',
  overlap: 'allow',
  priority: 'normal',
  max_age: '7d',
  ...textsOf(schedule),
  dedupe_window: schedule?.dedupe_key ? schedule.dedupe_window : '',
  debounce: schedule?.trigger_type === 'watch' ? schedule.debounce : '',
  targets: (schedule?.targets ?? [schedule?.target ?? '']).join('\n'),
  input: Object.entries(schedule?.input ?? {})
    .map(([name, expression]) => `${name}=${expression}`)
    .join('\n'),
  mode: schedule?.mode === 'delta' ? 'delta' : '',
})

const inputOf = (text: string | undefined): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf('=')
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )

const countOf = (text: string) => (text === '' ? {} : { full_every: Number(text) })

/** Fields of other kinds are not sent. */
const requestOf = (texts: Texts, params: Texts): ScheduleRequest => {
  const { trigger_type: type = 'cron', timeout = '', run_mode: mode = '' } = texts
  const targets = [...targetsOf(texts['targets'] ?? '')]
  const text = (name: string) => (texts[name] ?? '').trim()
  const given = (name: string) => (text(name) === '' ? {} : { [name]: text(name) })
  return {
    name: text('name'),
    workflow_name: text('workflow_name'),
    trigger_type: type as 'cron',
    ...(type === 'cron' ? { schedule: text('schedule'), ...given('timezone'), ...given('missed') } : {}),
    ...(type === 'event'
      ? {
          event_topic: text('event_topic'),
          filters: linesOf(texts['filters']),
          dedupe_key: text('dedupe_key'),
          ...given('dedupe_window'),
        }
      : {}),
    ...(type === 'watch' ? { watch_path: text('watch_path'), ...given('debounce') } : {}),
    ...(targets.length > 1 ? { targets } : { target: targets[0] ?? '' }),
    params: filledParams(params),
    input: inputOf(texts['input']),
    overlap: text('overlap') as 'allow',
    priority: text('priority') as 'normal',
    ...(mode === '' ? {} : { run_mode: mode as 'local' }),
    ...(timeout === '' ? {} : { timeout }),
    ...(text('mode') === 'delta'
      ? { mode: 'delta', max_age: text('max_age'), ...countOf(text('full_every')) }
      : { mode: 'all' }),
  }
}

/** The options of `scanfarm schedules create`. */
const wordsOf = (body: ScheduleRequest): readonly string[] => [
  'schedules',
  'create',
  body.name,
  '-w',
  body.workflow_name,
  ...(body.schedule === undefined ? [] : ['--cron', body.schedule]),
  ...(body.timezone === undefined || body.timezone === 'UTC' ? [] : ['--timezone', body.timezone]),
  ...(body.event_topic === undefined ? [] : ['--event', body.event_topic]),
  ...(body.watch_path === undefined ? [] : ['--watch', body.watch_path]),
  ...(body.targets ?? [body.target ?? '']).flatMap((target) => (target === '' ? [] : ['-t', target])),
  ...Object.entries(body.params ?? {}).flatMap(([name, value]) => ['-p', `${name}=${value}`]),
  ...Object.entries(body.input ?? {}).flatMap(([name, value]) => ['--input', `${name}=${value}`]),
  ...(body.overlap === 'allow' || body.overlap === undefined ? [] : ['--overlap', body.overlap]),
  ...(body.missed === 'once' || body.missed === undefined ? [] : ['--missed', body.missed]),
  ...(body.max_age === undefined ? [] : ['--delta', '--max-age', body.max_age]),
  ...(body.full_every === undefined ? [] : ['--full-every', String(body.full_every)]),
]

/** What the command line cannot say. */
const isOnlyApi = (body: ScheduleRequest): boolean =>
  (body.filters ?? []).length > 0 ||
  (body.dedupe_key ?? '') !== '' ||
  body.debounce !== undefined ||
  body.run_mode !== undefined ||
  body.priority !== 'normal' ||
  body.timeout !== undefined

/** What the schedule is, and the fields of its kind. */
const kindRows = (type: string | undefined, workflows: readonly string[]): readonly FieldRow[] => [
  [
    text('name', 'Name', { required: true }),
    suggest('workflow_name', 'Workflow', workflows, { required: true }),
    choice('trigger_type', 'Starts', [
      { value: 'cron', label: 'at times (cron)' },
      { value: 'event', label: 'on events' },
      { value: 'watch', label: 'when files change' },
    ]),
  ],
  type === 'cron' && [
    suggest('schedule', 'Cron expression', CRONS, {
      placeholder: 'minute hour day month weekday',
      required: true,
    }),
    suggest('timezone', 'Time zone', ZONES),
    choice('missed', 'Missed times', ['once', 'skip', 'all']),
  ],
  type === 'event' && [
    text('event_topic', 'Topic or glob', { placeholder: 'custom.build', required: true }),
    text('dedupe_key', 'Dedupe key', { placeholder: '{{event.data.host}}' }),
    text('dedupe_window', 'Dedupe window', { placeholder: '10m' }),
  ],
  type === 'event' && [
    lines('filters', 'Filters, one a line; all must be true', {
      rows: 3,
      placeholder: 'event.data.level > 3',
    }),
  ],
  type === 'watch' && [
    text('watch_path', 'Path or glob on the server', { placeholder: '/srv/drop/*.txt', required: true }),
    text('debounce', 'Quiet for', { placeholder: '5s' }),
  ],
]

const targetRow = (byCron: boolean): FieldRow => [
  lines('targets', 'Targets, one a line', {
    rows: 3,
    hint: byCron ? undefined : 'None: the target is in the input, or in the event.',
  }),
  !byCron &&
    lines('input', 'Input from the event, name=expression a line', {
      rows: 3,
      placeholder: 'target=event_data.host',
    }),
]

const optionRow = (byDelta: boolean): FieldRow => [
  choice('overlap', 'If earlier runs have not ended', ['allow', 'skip', 'queue', 'cancel-previous']),
  choice('run_mode', 'Where', ['distributed', 'local'], { none: 'as the server does' }),
  choice('priority', 'Priority', ['low', 'normal', 'high', 'critical']),
  text('timeout', 'Time limit of each run', { placeholder: '30m, 2h' }),
  choice('mode', 'Scan', MODES, { none: ALL }),
  byDelta && text('max_age', MAX_AGE, { required: true }),
  byDelta && text('full_every', FULL_EVERY, { type: 'number', min: 2, placeholder: 'never' }),
]

interface ScheduleFormProps {
  /** The schedule to change; without it a new one is created. */
  readonly schedule?: Schedule
  readonly onDone: () => void
}

export const ScheduleForm = ({ schedule, onDone }: ScheduleFormProps) => {
  const [texts, setTexts] = useState(() => initialTexts(schedule))
  const [params, setParams] = useState<Texts>(schedule?.params ?? {})
  const { data: names = [] } = useQuery(workflowNamesQuery)
  const { workflow_name: workflowName = '', trigger_type: type, timezone } = texts
  const byCron = type === 'cron'
  const cron = byCron ? (texts['schedule'] ?? '').trim() : ''
  const { data: workflow } = useQuery({
    ...workflowQuery(workflowName),
    enabled: names.includes(workflowName) || workflowName === schedule?.workflow_name,
  })
  const body = requestOf(texts, params)
  const send = () =>
    answer(
      schedule
        ? api.PUT('/schedules/{id}', { ...byId(schedule.id), body })
        : api.POST('/schedules', { body }),
    )
  const save = useAct(send, {
    refresh: ['triggers'],
    done: (said) => {
      say(said)
      onDone()
    },
  })
  return (
    <Form onSubmit={() => save.mutate()} error={save.error}>
      <Fields
        values={texts}
        onChange={setTexts}
        rows={[
          ...kindRows(type, names),
          cron !== '' && (
            <Suspense key="cron">
              <CronPreview schedule={cron} timezone={timezone || 'UTC'} />
            </Suspense>
          ),
          targetRow(byCron),
          workflow !== undefined && workflow.params.length > 0 && (
            <details key="params" open={Object.keys(filledParams(params)).length > 0 || undefined}>
              <summary>Params of {workflow.name}</summary>
              <div className="grid field-row">
                <ParamFields
                  params={
                    byCron ? workflow.params : workflow.params.map((one) => ({ ...one, required: false }))
                  }
                  values={params}
                  onChange={setParams}
                />
              </div>
            </details>
          ),
          optionRow(texts['mode'] === 'delta'),
        ]}
      />
      <details className="commands">
        <summary>The same on the command line</summary>
        <CommandLines
          lines={[
            {
              title: schedule ? 'Change the schedule' : 'Create the schedule',
              ...(schedule || isOnlyApi(body) ? {} : { cli: wordsOf(body) }),
              api: schedule ? ['PUT', `/schedules/${schedule.id}`, body] : ['POST', '/schedules', body],
            },
          ]}
        />
      </details>
      <FormActions call={save} onBack={onDone} needs="admin" action={schedule ? 'Save' : 'Create'} />
    </Form>
  )
}
