import {
  picked,
  roleAllows,
  SCHEDULE_TARGETS,
  SCHEDULED_RUN_FIELDS,
  type CreateRuns,
  type FieldError,
  type Warnings,
} from '@scanfarm/contracts'
import type { JobDraft, ScheduleDraft } from '@scanfarm/store'
import { cronProblem, parseDuration } from '@scanfarm/language'
import type { Caller } from '../access/authenticator.ts'
import { problemAt } from '../http/refusal.ts'

const DEFAULT_WAIT = '1m'

const everyOf = ({ repeat_wait_time = DEFAULT_WAIT }: CreateRuns): string =>
  `@every ${repeat_wait_time.trim()}`

/** The cron expression for repeated runs; undefined if there are none. `schedule` overrides `repeat`. */
const timesOf = (body: CreateRuns): string | undefined =>
  body.schedule ?? (body.repeat === true ? everyOf(body) : undefined)

export const repeatProblems = (body: CreateRuns): FieldError[] => {
  const { schedule, repeat_wait_time: wait } = body
  const isUnclear = typeof wait === 'string' && parseDuration(wait) === undefined
  return [
    ...problemAt('/repeat_wait_time', isUnclear && `"${wait}" is not a duration; for example: 30m, 2h, 1d`),
    ...problemAt(
      '/repeat_wait_time',
      typeof wait === 'string' && !isUnclear && cronProblem(everyOf(body), 'UTC'),
    ),
    ...problemAt('/schedule', typeof schedule === 'string' && cronProblem(schedule, 'UTC')),
  ]
}

/** The reason why no schedule is created, for the warning. */
const obstacleOf = (draft: JobDraft, targets: readonly string[] | undefined, { role }: Caller) => {
  if (role === undefined || !roleAllows(role, 'admin')) return 'a schedule requires the role admin'
  if (draft.runMode === 'cloud') return 'a schedule cannot start cloud runs'
  if (targets === undefined || targets.length > SCHEDULE_TARGETS)
    return `a schedule has at most ${SCHEDULE_TARGETS} targets: create several with POST /schedules`
  return undefined
}

export interface Repetition {
  /** Created with the job. */
  readonly schedule?: ScheduleDraft
  readonly warnings: Warnings
}

/** The schedule that repeats the runs, if the request asks for one and the caller may create it. */
export const planRepetition = (
  body: CreateRuns,
  draft: JobDraft,
  targets: readonly string[] | undefined,
  caller: Caller,
): Repetition => {
  const times = timesOf(body)
  if (times === undefined) {
    const field = (['repeat_wait_time', 'schedule_enabled'] as const).find((name) => body[name] !== undefined)
    return {
      warnings:
        field === undefined || body.repeat === false
          ? []
          : [{ field, message: 'has no effect without repeat or schedule' }],
    }
  }
  const field = body.schedule === undefined ? 'repeat' : 'schedule'
  const obstacle = obstacleOf(draft, targets, caller)
  if (obstacle !== undefined || targets === undefined || draft.runMode === 'cloud')
    return { warnings: [{ field, message: `the runs are started only once: ${obstacle ?? ''}` }] }
  const [target = '', ...more] = targets
  return {
    schedule: {
      name: `${draft.workflowName} ${times}`,
      workflow_name: draft.workflowName,
      workflow_kind: draft.workflowKind,
      target: more.length === 0 ? target : '',
      workspace: body.workspace ?? '',
      params: draft.params,
      trigger_type: 'cron',
      schedule: times,
      event_topic: '',
      watch_path: '',
      spec: {
        overlap: 'skip',
        runMode: draft.runMode,
        priority: draft.priority,
        ...(more.length === 0 ? {} : { targets }),
        run: { ...picked(body, SCHEDULED_RUN_FIELDS), timeout: draft.timeoutMinutes ?? undefined },
      },
      is_enabled: body.schedule_enabled ?? true,
    },
    warnings:
      body.schedule !== undefined && body.repeat === true
        ? [{ field: 'repeat', message: 'has no effect: schedule decides when the runs are repeated' }]
        : [],
  }
}
