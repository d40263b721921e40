import {
  roleAllows,
  SCHEDULE_TARGETS,
  type CreateRuns,
  type FieldError,
  type Warnings,
} from '@scanfarm/contracts'
import type { JobDraft, ScheduleDraft } from '@scanfarm/store'
import { cronProblem, parseDuration } from '@scanfarm/workflow'
import type { Caller } from '../access/caller.ts'

const DEFAULT_WAIT = '1m'

const everyOf = ({ repeat_wait_time = DEFAULT_WAIT }: CreateRuns): string =>
  `@every ${repeat_wait_time.trim()}`

/** When the runs of the request are to start again; undefined: never. A schedule wins over a repetition. */
const timesOf = (body: CreateRuns): string | undefined =>
  body.schedule ?? (body.repeat === true ? everyOf(body) : undefined)

export const repeatProblems = (body: CreateRuns): FieldError[] => {
  const wait = body.repeat_wait_time
  const cron = typeof body.schedule === 'string' ? cronProblem(body.schedule, 'UTC') : undefined
  const unclear = typeof wait === 'string' && parseDuration(wait) === undefined
  const problem = unclear
    ? `"${wait}" is not a duration; for example: 30m, 2h, 1d`
    : typeof wait === 'string'
      ? cronProblem(everyOf(body), 'UTC')
      : undefined
  return [
    ...(problem === undefined ? [] : [{ path: '/repeat_wait_time', message: problem }]),
    ...(cron === undefined ? [] : [{ path: '/schedule', message: cron }]),
  ]
}

/** Why the runs are started once only, for people. */
const obstacleOf = (draft: JobDraft, targets: readonly string[] | undefined, { role }: Caller) => {
  if (role === undefined || !roleAllows(role, 'admin')) return 'schedules need the role admin'
  if (draft.runMode === 'cloud') return 'schedules do not make cloud runs'
  if (targets === undefined || targets.length > SCHEDULE_TARGETS)
    return `a schedule has at most ${SCHEDULE_TARGETS} targets: make several with POST /schedules`
  return undefined
}

export interface Repetition {
  /** To be made with the job. */
  readonly schedule?: ScheduleDraft
  readonly warnings: Warnings
}

/** The schedule that starts the same runs again, where the request asks for one and the caller may have it. */
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
        field === undefined || body.repeat === false ? [] : [{ field, message: 'nothing is repeated' }],
    }
  }
  const field = body.schedule === undefined ? 'repeat' : 'schedule'
  const obstacle = obstacleOf(draft, targets, caller)
  if (obstacle !== undefined || targets === undefined || draft.runMode === 'cloud')
    return { warnings: [{ field, message: `the runs are started once only: ${obstacle ?? ''}` }] }
  const [target = '', ...more] = targets
  return {
    schedule: {
      name: `${draft.workflowName} ${times}`,
      workflowName: draft.workflowName,
      workflowKind: draft.workflowKind,
      target: more.length === 0 ? target : '',
      workspace: body.workspace ?? '',
      params: draft.params,
      triggerType: 'cron',
      schedule: times,
      eventTopic: '',
      watchPath: '',
      spec: {
        overlap: 'skip',
        runMode: draft.runMode,
        priority: draft.priority,
        ...(more.length === 0 ? {} : { targets }),
        run: {
          runner_type: body.runner_type,
          docker_image: body.docker_image,
          docker_network: body.docker_network,
          ssh_host: body.ssh_host,
          timeout: draft.timeoutMinutes ?? undefined,
          concurrency: body.concurrency,
        },
      },
      enabled: body.schedule_enabled ?? true,
    },
    warnings:
      body.schedule !== undefined && body.repeat === true
        ? [{ field: 'repeat', message: 'schedule says when the runs start again' }]
        : [],
  }
}
