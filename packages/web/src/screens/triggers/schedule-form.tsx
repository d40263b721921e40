import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { changeSchedule, createSchedule, type Schedule, type ScheduleRequest } from '../../api/automation.ts'
import { useRefusal } from '../../api/role.ts'
import { workflowNamesQuery, workflowQuery } from '../../api/workflows.ts'
import {
  Button,
  Combobox,
  CommandLines,
  ErrorPanel,
  Field,
  Form,
  linesOf,
  SelectField,
  TextField,
  toast,
} from '../../ui/index.ts'
import { filledParams, ParamFields, type ParamValues } from '../workflow/param-fields.tsx'
import { ALL, FULL_EVERY, MAX_AGE, MODES, targetsOf } from '../workflow/start-request.ts'

const CronPreview = lazy(async () => ({ default: (await import('./cron-preview.tsx')).CronPreview }))

const ZONES = ['UTC', Intl.DateTimeFormat().resolvedOptions().timeZone]
const CRONS = ['@hourly', '@daily', '@weekly', '@every 2h', '*/15 * * * *', '0 3 * * *', '0 9 * * 1-5']

const initialTexts = (schedule: Schedule | undefined): Readonly<Record<string, string>> => ({
  name: schedule?.name ?? '',
  workflow_name: schedule?.workflow_name ?? '',
  trigger_type: schedule?.trigger_type ?? 'cron',
  schedule: schedule?.schedule ?? '',
  timezone: schedule?.timezone ?? 'UTC',
  missed: schedule?.missed ?? 'once',
  event_topic: schedule?.event_topic ?? '',
  filters: (schedule?.filters ?? []).join('\n'),
  dedupe_key: schedule?.dedupe_key ?? '',
  dedupe_window: schedule?.dedupe_key ? schedule.dedupe_window : '',
  watch_path: schedule?.watch_path ?? '',
  debounce: schedule?.trigger_type === 'watch' ? schedule.debounce : '',
  targets: (schedule?.targets ?? [schedule?.target ?? '']).join('\n'),
  input: Object.entries(schedule?.input ?? {})
    .map(([name, expression]) => `${name}=${expression}`)
    .join('\n'),
  overlap: schedule?.overlap ?? 'allow',
  run_mode: schedule?.run_mode ?? '',
  priority: schedule?.priority ?? 'normal',
  timeout: schedule?.timeout === undefined ? '' : String(schedule.timeout),
  mode: schedule?.mode === 'delta' ? 'delta' : '',
  max_age: schedule?.max_age ?? '7d',
  full_every: schedule?.full_every === undefined ? '' : String(schedule.full_every),
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
const requestOf = (texts: Readonly<Record<string, string>>, params: ParamValues): ScheduleRequest => {
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

interface ScheduleFormProps {
  /** The schedule to change; without it a new one is created. */
  readonly schedule?: Schedule
  readonly onDone: () => void
}

export const ScheduleForm = ({ schedule, onDone }: ScheduleFormProps) => {
  const [texts, setTexts] = useState(() => initialTexts(schedule))
  const [params, setParams] = useState<ParamValues>(schedule?.params ?? {})
  const { data: names = [] } = useQuery(workflowNamesQuery)
  const { workflow_name: workflowName = '', trigger_type: type, timezone = 'UTC' } = texts
  const { data: workflow } = useQuery({
    ...workflowQuery(workflowName),
    enabled: names.includes(workflowName) || workflowName === schedule?.workflow_name,
  })
  const refusal = useRefusal('admin')
  const body = requestOf(texts, params)
  const save = useAct(() => (schedule ? changeSchedule(schedule.id, body) : createSchedule(body)), {
    refresh: ['triggers'],
    done: ({ message, warnings = [] }) => {
      toast(message)
      for (const { field, message: text } of warnings) toast(`${field}: ${text}`, 'bad')
      onDone()
    },
  })
  const bound = (name: string) => ({
    name,
    value: texts[name] ?? '',
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setTexts({ ...texts, [name]: event.currentTarget.value }),
  })
  return (
    <Form onSubmit={() => save.mutate()} error={save.error}>
      <div className="field-row">
        <Field {...bound('name')} label="Name" required />
        <Combobox {...bound('workflow_name')} label="Workflow" suggestions={names} required />
        <SelectField
          {...bound('trigger_type')}
          label="Starts"
          options={[
            { value: 'cron', label: 'at times (cron)' },
            { value: 'event', label: 'on events' },
            { value: 'watch', label: 'when files change' },
          ]}
        />
      </div>
      {type === 'cron' ? (
        <>
          <div className="field-row">
            <Combobox
              {...bound('schedule')}
              label="Cron expression"
              suggestions={CRONS}
              placeholder="minute hour day month weekday"
              required
            />
            <Combobox {...bound('timezone')} label="Time zone" suggestions={ZONES} />
            <SelectField {...bound('missed')} label="Missed times" options={['once', 'skip', 'all']} />
          </div>
          {(texts['schedule'] ?? '').trim() === '' ? null : (
            <Suspense>
              <CronPreview schedule={texts['schedule'] ?? ''} timezone={timezone || 'UTC'} />
            </Suspense>
          )}
        </>
      ) : null}
      {type === 'event' ? (
        <>
          <div className="field-row">
            <Field {...bound('event_topic')} label="Topic or glob" placeholder="custom.build" required />
            <Field {...bound('dedupe_key')} label="Dedupe key" placeholder="{{event.data.host}}" />
            <Field {...bound('dedupe_window')} label="Dedupe window" placeholder="10m" />
          </div>
          <TextField
            {...bound('filters')}
            label="Filters, one a line; all must be true"
            rows={3}
            placeholder="event.data.level > 3"
          />
        </>
      ) : null}
      {type === 'watch' ? (
        <div className="field-row">
          <Field
            {...bound('watch_path')}
            label="Path or glob on the server"
            placeholder="/srv/drop/*.txt"
            required
          />
          <Field {...bound('debounce')} label="Quiet for" placeholder="5s" />
        </div>
      ) : null}
      <div className="field-row">
        <TextField
          {...bound('targets')}
          label="Targets, one a line"
          rows={3}
          hint={type === 'cron' ? undefined : 'None: the target is in the input, or in the event.'}
        />
        {type === 'cron' ? null : (
          <TextField
            {...bound('input')}
            label="Input from the event, name=expression a line"
            rows={3}
            placeholder="target=event_data.host"
          />
        )}
      </div>
      {workflow && workflow.params.length > 0 ? (
        <details open={Object.keys(filledParams(params)).length > 0 || undefined}>
          <summary>Params of {workflow.name}</summary>
          <div className="field-row">
            <ParamFields
              params={
                type === 'cron'
                  ? workflow.params
                  : workflow.params.map((one) => ({ ...one, required: false }))
              }
              values={params}
              onChange={setParams}
            />
          </div>
        </details>
      ) : null}
      <div className="field-row">
        <SelectField
          {...bound('overlap')}
          label="If earlier runs have not ended"
          options={['allow', 'skip', 'queue', 'cancel-previous']}
        />
        <SelectField
          {...bound('run_mode')}
          label="Where"
          none="as the server does"
          options={['distributed', 'local']}
        />
        <SelectField
          {...bound('priority')}
          label="Priority"
          options={['low', 'normal', 'high', 'critical']}
        />
        <Field {...bound('timeout')} label="Time limit of each run" placeholder="30m, 2h" />
        <SelectField {...bound('mode')} label="Scan" none={ALL} options={MODES} />
        {texts['mode'] === 'delta' ? (
          <>
            <Field {...bound('max_age')} label={MAX_AGE} required />
            <Field {...bound('full_every')} label={FULL_EVERY} type="number" min={2} placeholder="never" />
          </>
        ) : null}
      </div>
      {save.error ? <ErrorPanel error={save.error} /> : null}
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
      <div className="dialog-actions line">
        <Button onClick={onDone}>Back</Button>
        <Button type="submit" kind="primary" busy={save.isPending} refusal={refusal}>
          {schedule ? 'Save' : 'Create'}
        </Button>
      </div>
    </Form>
  )
}
