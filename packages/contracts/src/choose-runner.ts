import type { RunnerSpec } from './runner.ts'
import { parseSshAddress } from './ssh-address.ts'
import type { RunnerType } from './words.ts'

/** What the caller of a run asked for; null: nothing. */
export type AskedRunner = {
  readonly type: RunnerType
  readonly dockerImage?: string
  readonly dockerNetwork?: string
  readonly sshHost?: string
} | null

/**
 * Where a run's commands execute: as its workflow says, with what its caller asked for in place of that. Asking for
 * the workflow's own kind of runner keeps the rest of the workflow's settings, such as volumes or the key file; asking
 * for another kind drops them. Throws an error for the caller when something is missing.
 */
export function chooseRunner(own: RunnerSpec, asked: AskedRunner): RunnerSpec {
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
  { dockerImage, dockerNetwork }: Omit<NonNullable<AskedRunner>, 'type'>,
): RunnerSpec {
  const network = dockerNetwork === undefined ? {} : { network: dockerNetwork }
  if (own.type === 'docker') return { ...own, image: dockerImage ?? own.image, ...network }
  if (dockerImage === undefined)
    throw new Error('runner_type docker needs docker_image: the workflow names no image')
  return { type: 'docker', image: dockerImage, ...network }
}

function chooseSsh(own: RunnerSpec, host: string | undefined): RunnerSpec {
  if (own.type === 'ssh') return host === undefined ? own : { ...own, ...givenPartsOf(host) }
  if (host === undefined) throw new Error('runner_type ssh needs ssh_host: the workflow names no host')
  return { type: 'ssh', ...parseSshAddress(host) }
}

/** A host asked for without user or port keeps those of the workflow. */
function givenPartsOf(text: string): { host: string; port?: number; user?: string } {
  const { host, port, user } = parseSshAddress(text)
  return { host, ...(port !== undefined && { port }), ...(user !== undefined && { user }) }
}
