import {
  CLOUD_FIELDS,
  MAX_TIMEOUT_MINUTES,
  paramCountProblems,
  paramProblem,
  paramsProblems,
  parseSshAddress,
  targetProblem,
  workspaceProblem,
  type CreateRuns,
  type FieldError,
  type Warnings,
  valueOr,
} from '@scanfarm/contracts'
import { parseDuration } from '@scanfarm/language'
import { problemAt } from '../http/refusal.ts'
import { deltaProblems } from './delta.ts'
import { repeatProblems } from './repeat.ts'

const TARGET_FIELDS = ['target', 'targets', 'target_file'] as const

const present = <K extends string>(body: Readonly<Partial<Record<K, unknown>>>, names: readonly K[]): K[] =>
  names.filter((name) => body[name] !== undefined)

/** Problems that involve several fields of a request. Checked before any lookup. */
export const fieldProblems = (body: CreateRuns): FieldError[] => [
  ...workflowProblems(body),
  ...targetProblems(body),
  ...paramProblems(body),
  ...workspaceProblems(body),
  ...timeoutProblems(body),
  ...repeatProblems(body),
  ...runnerProblems(body),
  ...cloudProblems(body),
  ...deltaProblems(body),
]

const workflowProblems = (body: CreateRuns): FieldError[] => {
  const names = present(body, ['flow', 'module'])
  if (names.length === 1) return []
  const message =
    names.length === 0
      ? 'exactly one of flow and module is required, but neither was sent'
      : 'exactly one of flow and module is required, but both were sent'
  return (['flow', 'module'] as const).map((name) => ({ path: `/${name}`, message }))
}

const targetProblems = (body: CreateRuns): FieldError[] => {
  const names = present(body, TARGET_FIELDS)
  if (names.length === 1 || (names.length === 0 && body.empty_target === true)) return []
  const message =
    names.length === 0
      ? 'exactly one of target, targets and target_file is required'
      : `exactly one of target, targets and target_file is required, not ${names.join(' and ')}`
  return (names.length === 0 ? TARGET_FIELDS : names).map((name) => ({ path: `/${name}`, message }))
}

const textsOf = (params: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

/** Also called for bodies that failed validation, whose params may have any type. */
const paramProblems = ({ params: sent }: { readonly params?: unknown }): FieldError[] => {
  if (typeof sent !== 'object' || sent === null) return []
  const tooMany = paramCountProblems(sent)
  if (tooMany.length > 0) return tooMany
  const params = textsOf(sent)
  const beyondBounds = paramsProblems(params)
  if (beyondBounds.length > 0) return beyondBounds
  return Object.entries(params).flatMap(([name, value]) => problemAt(`/params/${name}`, paramProblem(value)))
}

const workspaceProblems = ({ workspace }: CreateRuns): FieldError[] =>
  problemAt('/workspace', workspace === undefined ? undefined : workspaceProblem(workspace))

/** Without a runner_type, the runner is checked later, when the workflow is known. */
const runnerProblems = ({
  runner_type,
  docker_image,
  docker_network,
  ssh_host,
  run_mode,
}: CreateRuns): FieldError[] => {
  if (run_mode === 'cloud') return []
  const requiresRunner = (path: string, value: string | undefined, runner: 'docker' | 'ssh'): FieldError[] =>
    value === undefined || runner_type === undefined || runner_type === runner
      ? []
      : [{ path, message: `requires runner_type ${runner}, but it is ${runner_type}` }]
  return [
    ...requiresRunner('/docker_image', docker_image, 'docker'),
    ...requiresRunner('/docker_network', docker_network, 'docker'),
    ...requiresRunner('/ssh_host', ssh_host, 'ssh'),
    ...problemAt(
      '/docker_image',
      isNot(IMAGE, docker_image) && 'must be the name of an image, for example debian:12',
    ),
    ...problemAt(
      '/ssh_host',
      ssh_host !== undefined &&
        !isSshAddress(ssh_host) &&
        'must have the form user@host:port; user and port are optional',
    ),
    ...problemAt(
      '/docker_network',
      isNot(NETWORK, docker_network) && 'must be the name of a docker network, for example none or bridge',
    ),
  ]
}

/** The characters of image references; the engine checks the rest. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/

const NETWORK = /^(container:)?[A-Za-z0-9][A-Za-z0-9_.-]*$/

const isNot = (pattern: RegExp, text: string | undefined): boolean =>
  text !== undefined && !pattern.test(text)

const isSshAddress = (text: string): boolean => valueOr(() => parseSshAddress(text).host !== '', false)

/** They describe new infrastructure. */
const NEW_INFRA_FIELDS = CLOUD_FIELDS.filter(
  (name) => name !== 'cloud_auto_destroy' && name !== 'cloud_reuse_infra',
)

/** A problem of each of the fields that is present. */
const allAt = (body: CreateRuns, names: readonly (keyof CreateRuns)[], message: string): FieldError[] =>
  present(body, names).map((name) => ({ path: `/${name}`, message }))

const cloudProblems = (body: CreateRuns): FieldError[] => {
  const { run_mode, runner_type = 'host', cloud_reuse_infra: reused } = body
  if (run_mode !== 'cloud') return allAt(body, CLOUD_FIELDS, 'requires run_mode cloud')
  return [
    ...allAt(
      body,
      reused === undefined ? [] : NEW_INFRA_FIELDS,
      'cannot be combined with cloud_reuse_infra, whose machines already exist',
    ),
    ...problemAt(
      '/runner_type',
      runner_type !== 'host' &&
        `must be host with run_mode cloud, not ${runner_type}: the machine is the runner`,
    ),
    ...allAt(
      body,
      ['docker_image', 'docker_network', 'ssh_host'],
      'cannot be combined with run_mode cloud: the machine is the runner',
    ),
  ]
}

/** Targets are checked when they are collected; this covers requests that are refused before. */
export const singleTargetProblems = ({ target }: CreateRuns): FieldError[] => {
  const named = typeof target === 'string' ? target.trim() : ''
  return problemAt('/target', named === '' ? undefined : targetProblem(named))
}

const MINUTE_MS = 60_000

/** The timeout in minutes, from text: a number or a duration. Null if there is none or it is neither. */
export const timeoutOf = ({ timeout }: Pick<CreateRuns, 'timeout'>): number | null => {
  if (timeout === undefined) return null
  if (/^\d+$/.test(String(timeout))) return Number(timeout)
  const ms = parseDuration(String(timeout))
  return ms === undefined ? null : Math.ceil(ms / MINUTE_MS)
}

/** The schema limits numbers only; this limits durations too. */
export const timeoutProblems = (body: Pick<CreateRuns, 'timeout'>): FieldError[] => {
  const minutes = timeoutOf(body)
  return minutes === null || (minutes >= 1 && minutes <= MAX_TIMEOUT_MINUTES)
    ? []
    : [{ path: '/timeout', message: `must be from 1 to ${MAX_TIMEOUT_MINUTES} minutes` }]
}

/** Warnings for accepted fields that have no effect. */
export const warningsOf = (body: CreateRuns): Warnings => [
  ...(body.skip_validation === true
    ? [{ field: 'skip_validation', message: 'has no effect: targets and params are always checked' }]
    : []),
  ...(body.notify_on_complete === true
    ? [
        {
          field: 'notify_on_complete',
          message: 'has no effect: subscribe to job.ended with POST /webhook-subscriptions',
        },
      ]
    : []),
  ...(body.missing_tools !== undefined && body.run_mode !== 'distributed'
    ? [{ field: 'missing_tools', message: 'has no effect: only distributed runs wait for a worker' }]
    : []),
  ...(body.empty_target === true &&
  [body.target, body.targets, body.target_file].some((way) => way !== undefined)
    ? [{ field: 'empty_target', message: 'has no effect: the targets of the request are used' }]
    : []),
]
