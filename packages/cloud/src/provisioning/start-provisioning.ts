import { randomUUID } from 'node:crypto'
import { startLoops, type Logger, type Loops, type LoopSpec } from '@scanfarm/platform'
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

/**
 * Starts the loops that create, watch and destroy machines. Any number of servers may run them; leases divide the work.
 * Waking them looks for infrastructures that are due now.
 */
export function startProvisioning(options: ProvisioningOptions): Loops {
  const settings: ProvisioningSettings = { ...PROVISIONING_DEFAULTS, ...options.settings }
  // Each loop is a separate owner, so that two loops of one process never share a lease.
  const owners = Array.from({ length: settings.parallelReconciles }, () => randomUUID())
  const intervalMs = settings.reaperSeconds * 1000
  const loops: readonly LoopSpec[] = [
    ...owners.map((owner) => ({
      name: 'reconcile machines',
      intervalMs: settings.pollMs,
      isUrgent: true,
      turn: (signal: AbortSignal) => reconcileNext({ ...options, settings, owner, signal }),
    })),
    {
      name: 'reap machines',
      intervalMs,
      turn: (signal) => reapAll(options, intervalMs * REAPER_TOLERANCE, signal),
    },
  ]
  return startLoops(loops, options.log)
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
