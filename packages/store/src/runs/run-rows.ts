import { TOOL, type Run, type RunDetail, type Step } from '@scanfarm/contracts'
import { sql, type RawBuilder } from 'kysely'
import { isUuid } from '../text.ts'
import { orgOfWorkspace } from '../workspaces/names.ts'

/** Number or uuid of a run, from the path of a request; other texts find nothing. */
export type RunRef = string

const NUMBER = /^[1-9]\d{0,14}$/

/** Undefined: the text is neither a number nor a uuid. */
export const keyOf = (
  ref: RunRef,
): { readonly id: number | null; readonly uuid: string | null } | undefined => {
  if (NUMBER.test(ref)) return { id: Number(ref), uuid: null }
  return isUuid(ref) ? { id: null, uuid: ref } : undefined
}

/** The condition on a run `r`; undefined as in `keyOf`. */
export const byRef = (ref: RunRef): RawBuilder<unknown> | undefined => {
  const key = keyOf(ref)
  return key && (key.uuid === null ? sql`r.id = ${key.id}` : sql`r.run_uuid = ${key.uuid}`)
}

/** A row of `runs` beside what it takes from its job. */
export type RunRow = Omit<Run, 'run_priority' | 'waiting_reason' | 'run_group_id'> & {
  job_id: string
  requirement_class: string
  concurrency: number | null
}

export type RunDetailRow = RunRow &
  Pick<
    RunDetail,
    | 'schedule_id'
    | 'trigger_name'
    | 'docker_image'
    | 'docker_network'
    | 'ssh_host'
    | 'facts'
    | 'killed_pids'
    | 'loop_run_uuid'
    | 'infra_id'
    | 'cloud_instance'
  > & {
    timeout_minutes: number | null
    job_no: number
  }

/** Bytes of a run `r` of a job `j`. */
const BYTES = sql`octet_length(j.params::text) + octet_length(r.target) + octet_length(r.workspace)
  + octet_length(r.error_message) + coalesce(octet_length(r.tally::text), 0)`

const COLUMNS = sql`r.id, r.run_uuid, r.workflow_name, j.workflow_kind, r.target, j.params, r.status,
  coalesce(r.outcome, '') as outcome, tally_count(r.tally, 'failedSteps') as failed_steps,
  tally_count(r.tally, 'leftOutModules') as left_out_modules, tally_count(r.tally, 'leftOutSteps') as left_out_steps,
  coalesce(r.tally -> 'reasons', '[]') as outcome_reasons, r.workspace, ${orgOfWorkspace(sql`r.workspace`)} as org_uuid,
  r.started_at, r.completed_at, r.total_steps, r.completed_steps, r.current_pid, j.trigger_type, j.job_id,
  r.created_at, r.updated_at, j.priority, r.run_mode, j.runner_type, r.attempt, r.worker_id, j.requirement_class,
  j.concurrency, r.error_message, case when r.batch is not null then
    jsonb_build_object('first', r.batch[1] + 1, 'last', r.batch[2] + 1) end as loop_items`

/** Runs for pages. */
export const RUNS = {
  from: sql`(runs r join jobs j on j.id = r.job_no)`,
  id: sql`r.id`,
  bytes: BYTES,
  columns: COLUMNS,
}

/** Other columns of the row are kept. */
export const toRun = <R extends RunRow>(row: R, waitingReason: string) => {
  const { job_id, requirement_class: _class, concurrency: _concurrency, ...run } = row
  return { ...run, run_group_id: job_id, run_priority: row.priority, waiting_reason: waitingReason }
}

/** Workers record versions of programs as facts: `tool:nmap` = `7.93`. */
const splitFacts = (all: RunDetail['facts']): Pick<RunDetail, 'facts' | 'tools'> => {
  const entries = Object.entries(all)
  return {
    facts: Object.fromEntries(entries.filter(([key]) => !key.startsWith(TOOL))),
    tools: entries
      .filter(([key, version]) => key.startsWith(TOOL) && version !== '')
      .map(([key, version]) => ({ name: key.slice(TOOL.length), version }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

export const toRunDetail = (row: RunDetailRow, waitingReason: string): RunDetail => {
  const { timeout_minutes: timeout, job_no: _jobNo, current_pid: _pid, ...run } = toRun(row, waitingReason)
  return { ...run, timeout, ...splitFacts(row.facts) }
}

/** Columns of a step `s`. */
export const STEP_COLUMNS = sql`
  s.id, s.run_id, s.name as step_name, s.type as step_type, s.module, s.status, s.command, s.output,
  s.error_message, s.exports, s.exit_code, s.duration_ms, s.log_file as log_key, s.attempt, s.started_at,
  case when s.taken_from is not null then
    jsonb_build_object('run_uuid', s.taken_from -> 'runUuid', 'attempt', s.taken_from -> 'attempt') end as taken_from,
  case when s.type = 'foreach' then coalesce((select job_id from jobs where parent_run = s.run_id and loop_step = s.id
    order by id desc limit 1), '') else '' end as items_job_id,
  s.completed_at, s.created_at`

export type StepRow = Omit<Step, 'error' | 'log_file' | 'run_uuid'> & { log_key: string }

export const toStep = ({ log_key, ...row }: StepRow, runUuid: string): Step => ({
  ...row,
  run_uuid: runUuid,
  error: row.error_message,
  log_file: log_key === '' ? '' : `/runs/${runUuid}/steps/${row.id}/log`,
})
