import {
  RunnerUnavailableError,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
  formatSshAddress,
} from '@scanfarm/contracts'
import { startFolder } from '../run-folders.ts'
import type { KeepAlive } from './connection.ts'
import { SshHost, type HostLimits } from './ssh-host.ts'
import { SshPlace } from './ssh-place.ts'
import { prepareFolder, SshRunner } from './ssh-runner.ts'
import { connectionKey, targetOf, type SshDefaults, type SshTarget } from './target.ts'

export interface SshRunnersOptions extends SshDefaults {
  /** Time between TERM and KILL where a command names none; default 1000. */
  readonly graceMs?: number
  /** A host that vanishes is noticed after the product; default 10 s × 3. */
  readonly keepAlive?: KeepAlive
  /** Time to reach a host, and again to agree with it; default 10 s. */
  readonly timeoutMs?: number
  /** Tries to reach a host, the wait between them doubling from 250 ms; default 5. */
  readonly attempts?: number
  /** Time that an unused connection is kept; default 60 s. */
  readonly idleMs?: number
}

const DEFAULT_GRACE_MS = 1_000

/** Runs commands on ssh hosts. Close the runners before the provider. */
export function createSshRunners(options: SshRunnersOptions = {}): RunnerProvider {
  const hosts = new Map<string, SshHost>()
  const limits: HostLimits = {
    keepAlive: options.keepAlive ?? { intervalMs: 10_000, count: 3 },
    timeoutMs: options.timeoutMs ?? 10_000,
    attempts: options.attempts ?? 5,
    idleMs: options.idleMs ?? 60_000,
  }
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type !== 'ssh')
        throw new RunnerUnavailableError(`the ssh runner cannot run ${spec.type} commands`)
      const target = await targetOf(spec, options)
      const name = formatSshAddress(target.address)
      const graceMs = options.graceMs ?? DEFAULT_GRACE_MS
      const host = hostFor(hosts, target, limits)
      const place = new SshPlace(host, {
        marker: context.marker,
        cwd: spec.workdir ?? startFolder(context),
        graceMs,
        name,
      })
      try {
        await place.connect(context.signal)
        const there = await prepareFolder(place, context)
        return new SshRunner(place, context, there, { host: name, host_key: host.hostKey })
      } catch (error) {
        await place.close(undefined)
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...hosts.values()].map((host) => host.close()))
    },
  }
}

/** Hosts that nothing connects to any more are forgotten: a farm may meet any number of them. */
function hostFor(hosts: Map<string, SshHost>, target: SshTarget, limits: HostLimits): SshHost {
  const key = connectionKey(target)
  const host = hosts.get(key) ?? new SshHost(target, limits)
  for (const [other, { isIdle }] of hosts) if (isIdle) hosts.delete(other)
  hosts.set(key, host)
  return host
}
