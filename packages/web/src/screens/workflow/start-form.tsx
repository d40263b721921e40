import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useRef, useState } from 'react'
import { providersQuery } from '../../api/cloud.ts'
import { useRefusal } from '../../api/role.ts'
import { scopesQuery } from '../../api/scopes.ts'
import { startRuns, uploadTargets, type WorkflowPage } from '../../api/workflows.ts'
import {
  Button,
  CommandLines,
  ErrorPanel,
  Field,
  Form,
  plural,
  SelectField,
  TextField,
  toast,
  type CommandLine,
} from '../../ui/index.ts'
import { ParamFields, type ParamValues } from './param-fields.tsx'
import { ALL, FULL_EVERY, linesOf, MAX_AGE, MODES, requestOf, targetsOf } from './start-request.ts'

const CronPreview = lazy(async () => ({
  default: (await import('../triggers/cron-preview.tsx')).CronPreview,
}))

/** A longer list of targets is sent as a file. */
const MAX_INLINE = 200_000
const WAIT_PATH = '(path)'

interface OptionsProps {
  readonly values: Readonly<Record<string, string>>
  readonly onChange: (changes: Readonly<Record<string, string>>) => void
  readonly isAdmin: boolean
}

const Options = ({ values, onChange, isAdmin }: OptionsProps) => {
  const { run_mode: where = '', runner_type: runner = '', mode = '', schedule = '' } = values
  const { data: scopes = [] } = useQuery(scopesQuery)
  const { data: cloud } = useQuery({ ...providersQuery, enabled: where === 'cloud' })
  const bound = (name: string) => ({
    name,
    value: values[name] ?? '',
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ [name]: event.currentTarget.value }),
  })
  return (
    <>
      <div className="field-row">
        <SelectField
          {...bound('run_mode')}
          label="Where"
          none="as the server does"
          options={['distributed', 'local', 'cloud']}
        />
        <SelectField
          {...bound('priority')}
          label="Priority"
          none="normal"
          options={['low', 'high', 'critical']}
        />
      </div>
      {where === 'cloud' ? (
        <div className="field-row">
          <SelectField
            {...bound('cloud_provider')}
            label="Provider"
            none={cloud?.default_provider ? `default (${cloud.default_provider})` : 'default'}
            options={(cloud?.providers ?? []).filter(({ configured }) => configured).map(({ name }) => name)}
          />
          <Field
            {...bound('cloud_instances')}
            label="Machines"
            type="number"
            min={1}
            max={10_000}
            placeholder="1"
          />
          <Field {...bound('cloud_instance_type')} label="Type of machine" />
          <Field {...bound('cloud_region')} label="Region" />
          <SelectField
            {...bound('cloud_use_spot')}
            label="Spot machines"
            none="default"
            options={['true', 'false']}
          />
          <SelectField
            {...bound('cloud_auto_destroy')}
            label="Destroy after the last run"
            none="default"
            options={['true', 'false']}
          />
        </div>
      ) : null}
      <div className="field-row">
        <SelectField
          {...bound('runner_type')}
          label="Runner"
          none="as the workflow says"
          options={['host', 'docker', 'ssh']}
        />
        {runner === 'docker' ? <Field {...bound('docker_image')} label="Image" required /> : null}
        {runner === 'ssh' ? <Field {...bound('ssh_host')} label="Host" required /> : null}
        <Field {...bound('timeout')} label="Time limit of each run" placeholder="30m, 2h" />
        <Field {...bound('concurrency')} label="Targets at a time" type="number" min={1} placeholder="all" />
        <Field {...bound('workspace')} label="Workspace" placeholder="one for each target" />
        <SelectField
          {...bound('scope')}
          label="Scope"
          none="of the workspace"
          options={scopes.map(({ name }) => name)}
        />
        <SelectField
          {...bound('strict')}
          label="Targets out of scope"
          none="leave them out"
          options={[{ value: 'true', label: 'refuse all targets' }]}
        />
        <SelectField {...bound('mode')} label="Scan" none={ALL} options={MODES} />
        {mode === 'delta' ? (
          <>
            <Field {...bound('max_age')} label={MAX_AGE} placeholder="7d" />
            <Field {...bound('full_every')} label={FULL_EVERY} type="number" min={2} placeholder="never" />
          </>
        ) : null}
      </div>
      <Field
        {...bound('schedule')}
        label="Repeat by a cron expression (role admin)"
        placeholder="0 3 * * *"
        disabled={!isAdmin}
        hint="The runs start now, and a schedule repeats them."
      />
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
  const [params, setParams] = useState<ParamValues>({})
  const [options, setOptions] = useState<Readonly<Record<string, string>>>({})
  const chooser = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const refusal = useRefusal('operator')
  const isAdmin = useRefusal('admin') === undefined
  const values = { targets, params, options }
  const count = chosen?.count ?? targetsOf(targets).length
  const byFile = chosen !== undefined || targets.length > MAX_INLINE
  const send = async () => {
    const file = chosen?.file ?? (byFile ? new File([targets], 'targets.txt') : undefined)
    const path = file === undefined ? undefined : (await uploadTargets(file)).path
    return startRuns(requestOf(workflow, values, path))
  }
  const start = useAct(send, {
    done: ({
      job_id: job,
      target_count: runs,
      refused_count: refused = 0,
      left_out_count: left = 0,
      warnings = [],
    }) => {
      toast(`${plural(runs, 'run')} started.`)
      if (left > 0) toast(`${plural(left, 'target has', 'targets have')} not changed.`)
      if (refused > 0) toast(`${plural(refused, 'target is', 'targets are')} out of scope.`, 'bad')
      for (const { field, message } of warnings) toast(`${field}: ${message}`, 'bad')
      void navigate({ href: `/jobs/${encodeURIComponent(job)}` })
    },
  })
  const take = async (file: File | undefined) => {
    if (file) setChosen({ file, count: targetsOf(await file.text()).length })
  }
  const lines: readonly CommandLine[] = linesOf(
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
        <div className="target-bar line spread">
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
          <div className="form">
            <Options
              values={options}
              isAdmin={isAdmin}
              onChange={(changes) => setOptions((before) => ({ ...before, ...changes }))}
            />
          </div>
        </details>
        {error ? <ErrorPanel error={error} /> : null}
        <Button type="submit" kind="primary" busy={start.isPending} refusal={why}>
          Start {count > 1 ? `${count.toLocaleString()} runs` : ''}
        </Button>
      </Form>
      <section className="commands start-lines" aria-label="The same on the command line">
        <CommandLines lines={lines} />
      </section>
    </div>
  )
}
