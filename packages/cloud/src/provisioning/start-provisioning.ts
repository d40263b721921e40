import { randomUUID } from 'node:crypto'
import { Loop, type Logger } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'
import type { CloudProviders } from '../open-providers.ts'
import { reapMachines } from './reap-machines.ts'
import { reconcileNext } from './reconcile-next.ts'
import type { ProvisioningMetrics } from './reconciliation.ts'
import { PROVISIONING_DEFAULTS, type ProvisioningSettings } from './settings.ts'

/** The timers of several servers are not exact. */
const REAPER_TOLERANCE = 0.9

export interface ProvisioningOptions {
  readonly store: CloudStore
  readonly providers: CloudProviders
  /** In the labels of the farm's machines. */
  readonly farmId: string
  readonly log: Logger
  /** Defaults: `PROVISIONING_DEFAULTS`. */
  readonly settings?: Partial<ProvisioningSettings>
  readonly metrics?: ProvisioningMetrics
}

export interface Provisioning extends AsyncDisposable {
  /** Looks for infrastructures that are due now. */
  wake(): void
}

/** Starts the loops that create, watch and destroy machines. Any number of servers may run them; leases divide the work. */
export function startProvisioning(options: ProvisioningOptions): Provisioning {
  const settings: ProvisioningSettings = { ...PROVISIONING_DEFAULTS, ...options.settings }
  const reconcilers = Array.from({ length: settings.parallelReconciles }, () => reconciler(options, settings))
  const loops = [...reconcilers, reaper(options, settings)]
  for (const loop of loops) loop.start()
  return {
    wake() {
      for (const loop of reconcilers) loop.wake()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

/** Each loop is a separate owner, so that two loops of one process never share a lease. */
const reconciler = (options: ProvisioningOptions, settings: ProvisioningSettings): Loop => {
  const owner = randomUUID()
  return new Loop({
    name: 'reconcile machines',
    intervalMs: settings.pollMs,
    log: options.log,
    turn: (signal) => reconcileNext({ ...options, settings, owner, signal }),
  })
}

const reaper = (options: ProvisioningOptions, settings: ProvisioningSettings): Loop => {
  const intervalMs = settings.reaperSeconds * 1000
  return new Loop({
    name: 'reap machines',
    intervalMs,
    log: options.log,
    turn: (signal) => reapAll(options, intervalMs * REAPER_TOLERANCE, signal),
  })
}

async function reapAll(options: ProvisioningOptions, everyMs: number, signal: AbortSignal): Promise<void> {
  const { providers, store, log } = options
  for (const name of providers.configured) {
    if (signal.aborted || !(await store.tryAcquireReaperTurn(name, everyMs))) continue
    try {
      await reapMachines({ ...options, provider: await providers.get(name), signal })
    } catch (error) {
      if (!signal.aborted) log.warn('the search for leftover machines failed', { provider: name, error })
    }
  }
}
