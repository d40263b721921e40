import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@scanfarm/testing'
import { createKeyPair, type SshKeyPair } from '../../../src/machine/ssh-keys.ts'
import { checkMachine, type Readiness } from '../../../src/machine/check-machine.ts'
import { renderUserData, type MachineSetup } from '../../../src/machine/user-data.ts'
import type { CloudProvider, Machine, MachineRequest } from '../../../src/provider.ts'

const PATIENCE_MS = 60_000
const TIMEOUT_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Keys and requests for machines of a provider, and ssh to them. */
export class LocalHarness implements AsyncDisposable {
  readonly keys: SshKeyPair = createKeyPair('farm')
  readonly hostKeys: SshKeyPair = createKeyPair('host')
  readonly #id: string
  readonly #folder: string

  private constructor(id: string, folder: string) {
    this.#id = id
    this.#folder = folder
  }

  static async open(id: string): Promise<LocalHarness> {
    return new LocalHarness(id, await mkdtemp(join(tmpdir(), 'scanfarm-machines-')))
  }

  request(
    name: string,
    setup: Partial<MachineSetup> = {},
    over: Partial<MachineRequest> = {},
  ): MachineRequest {
    const { publicKey } = this.keys
    const own = { user: 'scan', publicKey, hostKey: this.hostKeys, tools: [], commands: [] }
    return {
      name,
      labels: { farm: this.#id, infra: '0123456789abcdef', expires: 1_900_000_000 },
      region: 'local',
      type: 'small',
      spot: false,
      userData: renderUserData({ ...own, ...setup }),
      sshUser: 'scan',
      publicKey,
      ...over,
    }
  }

  /** The result of the check once it is not `not-yet`. */
  async settled(
    machine: Machine,
    tools: readonly string[] = [],
    hostKey = this.hostKeys.publicKey,
  ): Promise<Readiness> {
    const place = {
      address: machine.address ?? '',
      port: machine.port,
      user: 'scan',
      privateKey: this.keys.privateKey,
      hostKey,
    }
    const options = { tools, timeoutMs: TIMEOUT_MS, signal: AbortSignal.timeout(PATIENCE_MS), path: PATH }
    return await until(
      () => checkMachine(place, options),
      ({ kind }) => kind !== 'not-yet',
    )
  }

  /** With the ssh client of this host, which accepts only the given host key. */
  async ssh(
    { address = '', port }: Machine,
    command: string,
    { key = this.keys.privateKey, hostKey = this.hostKeys.publicKey, options = [] as readonly string[] } = {},
  ): Promise<Said> {
    const at = (name: string): string => join(this.#folder, name)
    await writeFile(at('key'), key, { mode: 0o600 })
    await chmod(at('key'), 0o600)
    await writeFile(at('known_hosts'), `${address} ${hostKey}\n`)
    const settings = [
      'BatchMode=yes',
      'StrictHostKeyChecking=yes',
      'IdentitiesOnly=yes',
      'IdentityAgent=none',
      `UserKnownHostsFile=${at('known_hosts')}`,
      'GlobalKnownHostsFile=/dev/null',
      'ConnectTimeout=20',
      ...options,
    ].flatMap((option) => ['-o', option])
    const args = [
      '-F',
      '/dev/null',
      ...settings,
      '-i',
      at('key'),
      '-p',
      String(port),
      `scan@${address}`,
      command,
    ]
    return await new Promise((resolve) => {
      execFile('ssh', args, { timeout: PATIENCE_MS }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, stdout, stderr })
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

export const running = (provider: CloudProvider, id: string): Promise<Machine> =>
  described(provider, id, ({ state, address }) => state === 'running' && address !== undefined)

export const described = async (
  provider: CloudProvider,
  id: string,
  good: (machine: Machine) => boolean,
): Promise<Machine> => {
  const found = await until(
    () => provider.describe(id, AbortSignal.timeout(TIMEOUT_MS)),
    (machine) => machine !== undefined && good(machine),
  )
  if (found === undefined) throw new Error('there is no such machine')
  return found
}
