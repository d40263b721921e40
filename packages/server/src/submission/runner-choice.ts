import { AppError, roleAllows, type CreateRuns, type FieldError, type RunnerType } from '@scanfarm/contracts'
import { runnerOf, runnerProblems, type RunnerProblem } from '@scanfarm/engine'
import { type ResolvedWorkflow } from '@scanfarm/language'
import type { Caller } from '../access/authenticator.ts'
import { refuse } from '../http/refusal.ts'

export interface RunnerChoice {
  readonly runnerType: RunnerType
  /** The caller named a runner, which overrides the one of the workflow. */
  readonly runnerGiven: boolean
  readonly dockerImage: string
  readonly dockerNetwork: string
  readonly sshHost: string
}

/** The networks of the engine's machine and of other containers reach services that runs must not access. */
const isShared = (network: string): boolean => network === 'host' || network.startsWith('container:')

/** Networks of the worker's machine are reserved for callers who may also upload workflows. */
export const refuseNetwork = ({ docker_network: network = '' }: CreateRuns, { role }: Caller): void => {
  if (!isShared(network) || (role !== undefined && roleAllows(role, 'admin'))) return
  throw new AppError('forbidden', `docker_network ${network} requires the role admin`, {
    details: [{ path: '/docker_network', message: `${network} requires the role admin` }],
  })
}

/** The effective runner of request and workflow. Refuses docker without an image and ssh without a host. */
export const chooseRunner = (body: CreateRuns, resolved: ResolvedWorkflow): RunnerChoice => {
  const { runner_type, docker_image, docker_network, ssh_host } = body
  const runnerType = runner_type ?? runnerOf(resolved)
  const requiresRunner = (path: string, value: string | undefined, runner: RunnerType): FieldError[] =>
    value === undefined || runnerType === runner ? [] : [{ path, message: `requires runner_type ${runner}` }]
  refuse([
    ...requiresRunner('/docker_image', docker_image, 'docker'),
    ...requiresRunner('/docker_network', docker_network, 'docker'),
    ...requiresRunner('/ssh_host', ssh_host, 'ssh'),
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

/** Names the request field that can provide a missing image or host, if there is one. */
const fieldError = ({ root }: ResolvedWorkflow, { name, message }: RunnerProblem): FieldError => {
  const who = root.kind === 'module' || name === root.name ? 'the workflow' : `the module ${name}`
  const missing = (path: string, runner: RunnerType): FieldError => ({
    path,
    message: `is required with the runner ${runner}: ${who} has none`,
  })
  if (/docker_image|runner_config\.image/.test(message)) return missing('/docker_image', 'docker')
  if (/ssh_host|runner_config\.host/.test(message)) return missing('/ssh_host', 'ssh')
  return { path: `/${root.kind}`, message: `${name}: ${message}` }
}
