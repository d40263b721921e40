import {
  paramProblem,
  paramsProblems,
  parseSshAddress,
  targetProblem,
  workspaceProblem,
  type CreateRuns,
  type FieldError,
} from '@scanfarm/contracts'
import { repeatProblems } from './repeat.ts'
import { timeoutProblems } from './timeout.ts'

const TARGET_FIELDS = ['target', 'targets', 'target_file'] as const

const given = <K extends string>(body: Readonly<Partial<Record<K, unknown>>>, names: readonly K[]): K[] =>
  names.filter((name) => body[name] !== undefined)

/** Everything that is wrong with the fields of a request in view of each other, before anything is looked up. */
export const fieldProblems = (body: CreateRuns): FieldError[] => [
  ...workflowProblems(body),
  ...targetProblems(body),
  ...paramProblems(body),
  ...workspaceProblems(body),
  ...timeoutProblems(body),
  ...repeatProblems(body),
  ...runnerProblems(body),
  ...cloudProblems(body),
]

const workflowProblems = (body: CreateRuns): FieldError[] => {
  const names = given(body, ['flow', 'module'])
  if (names.length === 1) return []
  const message =
    names.length === 0
      ? 'name a workflow: exactly one of flow and module is required'
      : 'exactly one of flow and module is required, not both'
  return (['flow', 'module'] as const).map((name) => ({ path: `/${name}`, message }))
}

const targetProblems = (body: CreateRuns): FieldError[] => {
  const names = given(body, TARGET_FIELDS)
  if (names.length === 1 || (names.length === 0 && body.empty_target === true)) return []
  const message =
    names.length === 0
      ? 'exactly one of target, targets and target_file is required'
      : `exactly one of target, targets and target_file is required, not ${names.join(' and ')}`
  return (names.length === 0 ? TARGET_FIELDS : names).map((name) => ({ path: `/${name}`, message }))
}

/** The rules are also asked about bodies of the wrong shape, whose params may be anything. */
const textsOf = (params: unknown): Record<string, string> =>
  typeof params === 'object' && params !== null
    ? Object.fromEntries(
        Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {}

const paramProblems = ({ params: sent }: CreateRuns): FieldError[] => {
  const params = textsOf(sent)
  const beyondBounds = paramsProblems(params)
  if (beyondBounds.length > 0) return beyondBounds
  return Object.entries(params).flatMap(([name, value]) => {
    const message = paramProblem(value)
    return message === undefined ? [] : [{ path: `/params/${name}`, message }]
  })
}

const workspaceProblems = ({ workspace }: CreateRuns): FieldError[] => {
  const message = workspace === undefined ? undefined : workspaceProblem(workspace)
  return message === undefined ? [] : [{ path: '/workspace', message }]
}

/** Whether a runner that nobody named fits is seen when the workflow is known. */
const runnerProblems = ({
  runner_type,
  docker_image,
  docker_network,
  ssh_host,
  run_mode,
}: CreateRuns): FieldError[] => {
  if (run_mode === 'cloud') return []
  const misplaced = (path: string, value: string | undefined, runner: 'docker' | 'ssh'): FieldError[] =>
    value === undefined || runner_type === undefined || runner_type === runner
      ? []
      : [{ path, message: `goes only with runner_type ${runner}, not with ${runner_type}` }]
  return [
    ...misplaced('/docker_image', docker_image, 'docker'),
    ...misplaced('/docker_network', docker_network, 'docker'),
    ...misplaced('/ssh_host', ssh_host, 'ssh'),
    ...placeProblems(docker_image, ssh_host),
    ...networkProblems(docker_network),
  ]
}

/** Every reference of an image is made of these; the engine knows the rest. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/

const placeProblems = (image: string | undefined, host: string | undefined): FieldError[] => [
  ...(image === undefined || IMAGE.test(image)
    ? []
    : [{ path: '/docker_image', message: 'must be the name of an image, such as debian:12' }]),
  ...(host === undefined || isSshAddress(host)
    ? []
    : [{ path: '/ssh_host', message: 'must be written user@host:port; user and port may be left out' }]),
]

const NETWORK = /^(container:)?[A-Za-z0-9][A-Za-z0-9_.-]*$/

const networkProblems = (network: string | undefined): FieldError[] =>
  network === undefined || NETWORK.test(network)
    ? []
    : [{ path: '/docker_network', message: 'must be the name of a docker network, such as none or bridge' }]

const isSshAddress = (text: string): boolean => {
  try {
    return parseSshAddress(text).host !== ''
  } catch {
    return false
  }
}

const CLOUD_FIELDS = [
  'cloud_provider',
  'cloud_instances',
  'cloud_instance_type',
  'cloud_region',
  'cloud_auto_destroy',
  'cloud_reuse_infra',
  'cloud_use_spot',
] as const

/** They say what new infrastructure is like. */
const NEW_INFRA_FIELDS = CLOUD_FIELDS.filter(
  (name) => name !== 'cloud_auto_destroy' && name !== 'cloud_reuse_infra',
)

const cloudProblems = (body: CreateRuns): FieldError[] => {
  if (body.run_mode !== 'cloud')
    return given(body, CLOUD_FIELDS).map((name) => ({
      path: `/${name}`,
      message: 'goes only with run_mode cloud',
    }))
  const reuse = body.cloud_reuse_infra === undefined ? [] : given(body, NEW_INFRA_FIELDS)
  return [
    ...reuse.map((name) => ({
      path: `/${name}`,
      message: 'does not go with cloud_reuse_infra: its machines are there already',
    })),
    ...cloudRunnerProblems(body),
  ]
}

const cloudRunnerProblems = ({
  runner_type = 'host',
  docker_image,
  docker_network,
  ssh_host,
}: CreateRuns): FieldError[] => [
  ...(runner_type === 'host'
    ? []
    : [
        {
          path: '/runner_type',
          message: `must be host with run_mode cloud, not ${runner_type}: the machine is the runner`,
        },
      ]),
  ...given({ docker_image, docker_network, ssh_host }, ['docker_image', 'docker_network', 'ssh_host']).map(
    (name) => ({
      path: `/${name}`,
      message: 'does not go with run_mode cloud: the machine is the runner',
    }),
  ),
]

/** Every entry is checked when targets are gathered; this is for a request that is refused before that. */
export const singleTargetProblems = ({ target }: CreateRuns): FieldError[] => {
  const named = typeof target === 'string' ? target.trim() : ''
  const message = named === '' ? undefined : targetProblem(named)
  return message === undefined ? [] : [{ path: '/target', message }]
}
