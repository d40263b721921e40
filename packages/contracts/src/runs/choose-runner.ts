import type { RunnerSpec } from './runner.ts'
import { parseSshAddress } from './ssh-address.ts'
import type { RunnerType } from '../enums.ts'

/** The caller's choice of runner; null: none. */
export type RunnerChoice = {
  readonly type: RunnerType
  readonly dockerImage?: string
  readonly dockerNetwork?: string
  readonly sshHost?: string
} | null

/**
 * The runner of a run: that of its workflow with the caller's choice applied. If both have the same type, the other
 * settings of the workflow, for example volumes or the key file, are kept; otherwise they are dropped. Throws an error
 * for the caller if a setting is missing.
 */
export function chooseRunner(own: RunnerSpec, asked: RunnerChoice): RunnerSpec {
  switch (asked?.type) {
    case undefined:
      return own
    case 'docker':
      return chooseDocker(own, asked ?? {})
    case 'ssh':
      return chooseSsh(own, asked?.sshHost)
    default:
      return { type: 'host' }
  }
}

function chooseDocker(
  own: RunnerSpec,
  { dockerImage, dockerNetwork }: Omit<NonNullable<RunnerChoice>, 'type'>,
): RunnerSpec {
  const network = dockerNetwork === undefined ? {} : { network: dockerNetwork }
  if (own.type === 'docker') return { ...own, image: dockerImage ?? own.image, ...network }
  if (dockerImage === undefined)
    throw new Error('runner_type docker requires docker_image: the workflow declares no image')
  return { type: 'docker', image: dockerImage, ...network }
}

function chooseSsh(own: RunnerSpec, host: string | undefined): RunnerSpec {
  if (own.type === 'ssh') return host === undefined ? own : { ...own, ...namedPartsOf(host) }
  if (host === undefined) throw new Error('runner_type ssh requires ssh_host: the workflow declares no host')
  return { type: 'ssh', ...parseSshAddress(host) }
}

/** Without user or port, those of the workflow are kept. */
function namedPartsOf(text: string): { host: string; port?: number; user?: string } {
  const { host, port, user } = parseSshAddress(text)
  return { host, ...(port !== undefined && { port }), ...(user !== undefined && { user }) }
}
