import {
  RunnerUnavailableError,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
  formatSshAddress,
} from '@scanfarm/contracts'
import { withDefaults, type StopOptions } from '../interruption.ts'
import { startFolder } from '../run-folders.ts'
import type { KeepAlive } from './connection.ts'
import { ConnectionPool, type HostLimits } from './connection-pool.ts'
import { RemoteHost } from './remote-host.ts'
import { prepareFolder, SshRunner } from './ssh-runner.ts'
import { connectionKey, targetOf, type SshDefaults, type SshTarget } from './target.ts'

export interface SshRunnersOptions extends SshDefaults, StopOptions, Partial<HostLimits> {}

/** A vanished host is detected after 30 s. */
const KEEP_ALIVE: KeepAlive = { intervalMs: 10_000, count: 3 }

/** Runs commands on ssh hosts. Close the runners before the provider. */
export function createSshRunners(options: SshRunnersOptions = {}): RunnerProvider {
  const pools = new Map<string, ConnectionPool>()
  const { keepAlive = KEEP_ALIVE, timeoutMs = 10_000, attempts = 5, idleMs = 60_000 } = options
  const limits: HostLimits = { keepAlive, timeoutMs, attempts, idleMs, connections: options.connections }
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type !== 'ssh')
        throw new RunnerUnavailableError(`the ssh runner cannot run ${spec.type} commands`)
      const target = await targetOf(spec, options)
      const name = formatSshAddress(target.address)
      const pool = poolFor(pools, target, limits)
      const remoteHost = new RemoteHost(pool, {
        marker: context.marker,
        cwd: spec.workdir ?? startFolder(context),
        stop: withDefaults(options),
        name,
      })
      try {
        await context.prepare?.()
        await remoteHost.connect(context.signal)
        const folder = await prepareFolder(remoteHost, context)
        return new SshRunner(remoteHost, context, folder, { host: name, host_key: pool.hostKey })
      } catch (error) {
        await remoteHost.close(undefined)
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => pool.close()))
    },
  }
}

/** Drops idle pools, because the number of hosts is unbounded. */
function poolFor(pools: Map<string, ConnectionPool>, target: SshTarget, limits: HostLimits): ConnectionPool {
  const key = connectionKey(target)
  const pool = pools.get(key) ?? new ConnectionPool(target, limits)
  for (const [other, { isIdle }] of pools) if (isIdle) pools.delete(other)
  pools.set(key, pool)
  return pool
}
