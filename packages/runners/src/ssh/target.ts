import { readFile } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import {
  RunnerUnavailableError,
  type RunnerSpec,
  formatSshAddress,
  parseSshAddress,
  type SshAddress,
} from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'

export type SshSpec = Extract<RunnerSpec, { type: 'ssh' }>

/** Defaults for what a workflow does not set. */
export interface SshDefaults {
  /** Private key file. */
  readonly keyFile?: string
  /** Socket of an ssh agent. */
  readonly agent?: string
  /** Default `~/.ssh/known_hosts`. */
  readonly knownHosts?: string
}

/** All parameters of a connection. */
export interface SshTarget {
  readonly address: Required<SshAddress>
  readonly jump?: Required<SshAddress>
  readonly key?: Buffer
  readonly keyFile?: string
  readonly password?: string
  readonly agent?: string
  readonly knownHosts: string
  readonly hostKeys: 'strict' | 'accept-new'
  /** The only key that the host may show; known hosts are not looked up then. */
  readonly hostKey?: Buffer
}

const SSH_PORT = 22

export async function targetOf(spec: SshSpec, defaults: SshDefaults): Promise<SshTarget> {
  const keyFile = spec.keyFile ?? defaults.keyFile
  return {
    address: complete({ host: spec.host, port: spec.port, user: spec.user }),
    jump: spec.jump === undefined ? undefined : complete(parseAddress(spec.jump)),
    keyFile,
    key: keyFile === undefined ? undefined : await readKey(keyFile),
    password: spec.password,
    agent: defaults.agent,
    knownHosts: spec.knownHosts ?? defaults.knownHosts ?? join(homedir(), '.ssh', 'known_hosts'),
    hostKeys: spec.hostKeys ?? 'strict',
  }
}

/** Equal for targets that can share a connection. */
export const connectionKey = (target: SshTarget): string =>
  JSON.stringify([
    formatSshAddress(target.address),
    target.jump && formatSshAddress(target.jump),
    target.keyFile,
    target.password,
    target.knownHosts,
    target.hostKeys,
  ])

const complete = ({ host, port, user }: SshAddress): Required<SshAddress> => ({
  host,
  port: port ?? SSH_PORT,
  user: user ?? userInfo().username,
})

function parseAddress(text: string): SshAddress {
  try {
    return parseSshAddress(text)
  } catch (error) {
    throw new RunnerUnavailableError(errorText(error), { cause: error })
  }
}

async function readKey(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const why = errorText(error)
    throw new RunnerUnavailableError(`the private key ${file} cannot be read: ${why}`, { cause: error })
  }
}
