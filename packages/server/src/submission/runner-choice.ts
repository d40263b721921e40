import { AppError, roleAllows, type CreateRuns, type FieldError, type RunnerType } from '@scanfarm/contracts'
import { runnerOf, runnerProblems, type ResolvedWorkflow, type RunnerProblem } from '@scanfarm/workflow'
import type { Caller } from '../access/caller.ts'
import { refuse } from '../http/field-refusal.ts'

export interface RunnerChoice {
  readonly runnerType: RunnerType
  /** The caller's choice, which overrides that of the workflow. */
  readonly runnerGiven: boolean
  readonly dockerImage: string
  readonly dockerNetwork: string
  readonly sshHost: string
}

/** The networks of the engine's machine and of other containers reach services that runs must not reach. */
const isShared = (network: string): boolean => network === 'host' || network.startsWith('container:')

/** A network that reaches into the machine of a worker is for those who may write workflows. */
export const refuseNetwork = ({ docker_network: network = '' }: CreateRuns, { role }: Caller): void => {
  if (!isShared(network) || (role !== undefined && roleAllows(role, 'admin'))) return
  throw new AppError('forbidden', `docker_network ${network} needs the role admin`, {
    details: [{ path: '/docker_network', message: `${network} needs the role admin` }],
  })
}

/** The runner in force, from request and workflow together; refuses docker without an image and ssh without a host. */
export const chooseRunner = (body: CreateRuns, resolved: ResolvedWorkflow): RunnerChoice => {
  const { runner_type, docker_image, docker_network, ssh_host } = body
  const runnerType = runner_type ?? runnerOf(resolved)
  const misplaced = (path: string, value: string | undefined, runner: RunnerType): FieldError[] =>
    value === undefined || runnerType === runner
      ? []
      : [{ path, message: `goes only with runner_type ${runner}` }]
  refuse([
    ...misplaced('/docker_image', docker_image, 'docker'),
    ...misplaced('/docker_network', docker_network, 'docker'),
    ...misplaced('/ssh_host', ssh_host, 'ssh'),
  ])
  const runnerGiven = (runner_type ?? docker_image ?? docker_network ?? ssh_host) !== undefined
  const asked = runnerGiven
    ? {
        type: runnerType,
        ...(docker_image === undefined ? {} : { dockerImage: docker_image }),
        ...(docker_network === undefined ? {} : { dockerNetwork: docker_network }),
        ...(ssh_host === undefined ? {} : { sshHost: ssh_host }),
      }
    : null
  refuse(runnerProblems(resolved, asked).map((problem) => fieldError(resolved, problem)))
  return {
    runnerType,
    runnerGiven,
    dockerImage: docker_image ?? '',
    dockerNetwork: docker_network ?? '',
    sshHost: ssh_host ?? '',
  }
}

/** Names the field of the request that can supply a missing image or host, where there is one. */
const fieldError = ({ root }: ResolvedWorkflow, { name, message }: RunnerProblem): FieldError => {
  const who = root.kind === 'module' || name === root.name ? 'the workflow' : `the module ${name}`
  const missing = (path: string, runner: RunnerType): FieldError => ({
    path,
    message: `is required with the runner ${runner}: ${who} names none`,
  })
  if (/docker_image|runner_config\.image/.test(message)) return missing('/docker_image', 'docker')
  if (/ssh_host|runner_config\.host/.test(message)) return missing('/ssh_host', 'ssh')
  return { path: `/${root.kind}`, message: `${name}: ${message}` }
}
