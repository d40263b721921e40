import type { CreateRuns, FieldError, RunnerType } from '@scanfarm/contracts'
import type { ResolvedWorkflow } from '@scanfarm/workflow'
import { refuse } from '../http/field-refusal.ts'

export interface RunnerChoice {
  readonly runnerType: RunnerType
  /** The caller's choice, which overrides that of the workflow. */
  readonly runnerGiven: boolean
  readonly dockerImage: string
  readonly sshHost: string
}

/** The runner in force, from request and workflow together; refuses docker without an image and ssh without a host. */
export const chooseRunner = (body: CreateRuns, { root }: ResolvedWorkflow): RunnerChoice => {
  const runnerType = body.runner_type ?? root.runner ?? 'host'
  const sameRunner = root.runner === runnerType
  const problems: FieldError[] = []
  const need = (runner: RunnerType, path: string, value: string | undefined, own: string | undefined) => {
    if (runnerType === runner && value === undefined && !(sameRunner && own !== undefined))
      problems.push({ path, message: `is required with the runner ${runner}: the workflow names none` })
    if (runnerType !== runner && value !== undefined)
      problems.push({ path, message: `goes only with runner_type ${runner}` })
  }
  need('docker', '/docker_image', body.docker_image, root.runner_config?.image)
  need('ssh', '/ssh_host', body.ssh_host, root.runner_config?.host)
  refuse(problems)
  const { runner_type, docker_image, ssh_host } = body
  return {
    runnerType,
    runnerGiven: (runner_type ?? docker_image ?? ssh_host) !== undefined,
    dockerImage: docker_image ?? '',
    sshHost: ssh_host ?? '',
  }
}
