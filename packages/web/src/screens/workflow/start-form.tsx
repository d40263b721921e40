import { answer, api } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useRef, useState } from 'react'
import { providersQuery } from '../../api/cloud.ts'
import { useRefusal } from '../../api/role.ts'
import { scopesQuery } from '../../api/scopes.ts'
import { uploadTargets, type WorkflowPage } from '../../api/workflows.ts'
import {
  choice,
  Fields,
  text,
  type FieldRow,
  type Texts,
  Button,
  CommandLines,
  ErrorPanel,
  Form,
  plural,
  TextField,
  say,
  toast,
  type CommandLine,
} from '../../ui/index.ts'
import { late } from '../../ui/late.ts'
import { ParamFields } from './param-fields.tsx'
import { ALL, commandsOf, FULL_EVERY, MAX_AGE, MODES, requestOf, targetsOf } from './start-request.ts'

const CronPreview = late(async () => (await import('../triggers/cron-preview.tsx')).CronPreview)

/** A longer list of targets is sent as a file. */
const MAX_INLINE = 200_000
const WAIT_PATH = '(path)'

const FLAG = ['true', 'false']

const cloudRow = (defaultProvider: string | undefined, providers: readonly string[]): FieldRow => [
  choice('cloud_provider', 'Provider', providers, {
    none: defaultProvider ? `default (${defaultProvider})` : 'default',
  }),
  text('cloud_instances', 'Machines', { type: 'number', min: 1, max: 10_000, placeholder: '1' }),
  text('cloud_instance_type', 'Type of machine'),
  text('cloud_region', 'Region'),
  choice('cloud_use_spot', 'Spot machines', FLAG, { none: 'default' }),
  choice('cloud_auto_destroy', 'Destroy after the last run', FLAG, { none: 'default' }),
]

const optionRow = ({ runner_type: runner, mode }: Texts, scopes: readonly string[]): FieldRow => [
  choice('runner_type', 'Runner', ['host', 'docker', 'ssh'], { none: 'as the workflow says' }),
  runner === 'docker' && text('docker_image', 'Image', { required: true }),
  runner === 'ssh' && text('ssh_host', 'Host', { required: true }),
  text('timeout', 'Time limit of each run', { placeholder: '30m, 2h' }),
  text('concurrency', 'Targets at a time', { type: 'number', min: 1, placeholder: 'all' }),
  text('workspace', 'Workspace', { placeholder: 'one for each target' }),
  choice('scope', 'Scope', scopes, { none: 'of the workspace' }),
  choice('strict', 'Targets out of scope', [{ value: 'true', label: 'refuse all targets' }], {
    none: 'leave them out',
  }),
  choice('mode', 'Scan', MODES, { none: ALL }),
  mode === 'delta' && text('max_age', MAX_AGE, { placeholder: '7d' }),
  mode === 'delta' && text('full_every', FULL_EVERY, { type: 'number', min: 2, placeholder: 'never' }),
]

const Options = ({ values, onChange }: { values: Texts; onChange: (values: Texts) => void }) => {
  const { run_mode: where, schedule = '' } = values
  const isAdmin = useRefusal('admin') === undefined
  const { data: scopes = [] } = useQuery(scopesQuery)
  const { data: cloud } = useQuery({ ...providersQuery, enabled: where === 'cloud' })
  const providers = (cloud?.providers ?? []).filter(({ configured }) => configured)
  const rows: readonly FieldRow[] = [
    [
      choice('run_mode', 'Where', ['distributed', 'local', 'cloud'], { none: 'as the server does' }),
      choice('priority', 'Priority', ['low', 'high', 'critical'], { none: 'normal' }),
    ],
    where === 'cloud' &&
      cloudRow(
        cloud?.default_provider,
        providers.map(({ name }) => name),
      ),
    optionRow(
      values,
      scopes.map(({ name }) => name),
    ),
    [
      text('schedule', 'Repeat by a cron expression (role admin)', {
        placeholder: '0 3 * * *',
        disabled: !isAdmin,
        hint: 'The runs start now, and a schedule repeats them.',
      }),
    ],
  ]
  return (
    <>
      <Fields rows={rows} values={values} onChange={onChange} />
      {schedule === '' ? null : (
        <Suspense>
          <CronPreview schedule={schedule} timezone="UTC" />
        </Suspense>
      )}
    </>
  )
}

interface Chosen {
  readonly file: File
  readonly count: number
}

/** Starts a workflow. The command lines below follow what is typed. */
export const StartForm = ({ workflow }: { workflow: WorkflowPage }) => {
  const [targets, setTargets] = useState('')
  const [chosen, setChosen] = useState<Chosen>()
  const [params, setParams] = useState<Texts>({})
  const [options, setOptions] = useState<Texts>({})
  const chooser = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const refusal = useRefusal('operator')
  const values = { targets, params, options }
  const count = chosen?.count ?? targetsOf(targets).length
  const byFile = chosen !== undefined || targets.length > MAX_INLINE
  const send = async () => {
    const file = chosen?.file ?? (byFile ? new File([targets], 'targets.txt') : undefined)
    const path = file === undefined ? undefined : (await uploadTargets(file)).path
    return answer(api.POST('/runs', { body: requestOf(workflow, values, path) }))
  }
  const start = useAct(send, {
    done: ({
      job_id: job,
      target_count: runs,
      refused_count: refused = 0,
      left_out_count: left = 0,
      warnings,
    }) => {
      toast(`${plural(runs, 'run')} started.`)
      if (left > 0) toast(`${plural(left, 'target has', 'targets have')} not changed.`)
      if (refused > 0) toast(`${plural(refused, 'target is', 'targets are')} out of scope.`, 'bad')
      say({ warnings })
      void navigate({ href: `/jobs/${encodeURIComponent(job)}` })
    },
  })
  const take = async (file: File | undefined) => {
    if (file) setChosen({ file, count: targetsOf(await file.text()).length })
  }
  const commands: readonly CommandLine[] = commandsOf(
    requestOf(workflow, values, byFile ? WAIT_PATH : undefined),
    chosen?.file.name,
  )
  const { error } = start
  const why = workflow.valid ? refusal : 'The workflow has errors and cannot be started.'
  return (
    <div className="start stack gap-16">
      <Form onSubmit={() => start.mutate()} error={error}>
        <TextField
          name={chosen ? 'target_file' : targetsOf(targets).length > 1 ? 'targets' : 'target'}
          label={workflow.needs_target ? 'Targets, one a line' : 'Targets, one a line; none is possible'}
          rows={5}
          value={chosen ? '' : targets}
          disabled={chosen !== undefined}
          required={workflow.needs_target && chosen === undefined}
          placeholder={workflow.example_targets.join('\n') || 'example.com'}
          onChange={(event) => setTargets(event.currentTarget.value)}
        />
        <div className="line spread">
          <span className="number" aria-live="polite">
            {count.toLocaleString()} {count === 1 ? 'target' : 'targets'}
            {chosen ? ` in ${chosen.file.name}` : ''}
          </span>
          {chosen ? (
            <Button kind="quiet" onClick={() => setChosen(undefined)}>
              Remove the file
            </Button>
          ) : (
            <Button kind="quiet" onClick={() => chooser.current?.click()}>
              From a file
            </Button>
          )}
          <input
            ref={chooser}
            type="file"
            hidden
            aria-label="File of targets"
            onChange={(event) => {
              void take(event.currentTarget.files?.[0])
              event.currentTarget.value = ''
            }}
          />
        </div>
        <ParamFields params={workflow.params} values={params} onChange={setParams} />
        <details open={Object.values(options).some((text) => text !== '') || undefined}>
          <summary>Where, when and how</summary>
          <div className="stack form">
            <Options values={options} onChange={setOptions} />
          </div>
        </details>
        {error ? <ErrorPanel error={error} /> : null}
        <Button type="submit" kind="primary" busy={start.isPending} refusal={why}>
          Start {count > 1 ? `${count.toLocaleString()} runs` : ''}
        </Button>
      </Form>
      <section className="commands start-lines" aria-label="The same on the command line">
        <CommandLines lines={commands} />
      </section>
    </div>
  )
}
