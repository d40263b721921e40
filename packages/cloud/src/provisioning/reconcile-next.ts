import type { InfraRecord } from '@scanfarm/store'
import type { CloudProviders } from '../open-providers.ts'
import { CloudError, type CloudProvider } from '../provider.ts'
import { reconcileInfra } from './reconcile-infra.ts'
import { LeaseLostError, type ReconcileDeps } from './reconciliation.ts'

/** After an unexpected error. */
const ERROR_PAUSE_MS = 10_000
/** The provider may be configured in another process. */
const UNKNOWN_PROVIDER_PAUSE_MS = 30_000
/** Renewals within the time of one lease. */
const RENEWALS = 3

export interface ReconcileNextDeps extends Omit<ReconcileDeps, 'provider'> {
  readonly providers: Pick<CloudProviders, 'get'>
}

/** Acquires the lease of an infrastructure that is due, reconciles it and releases the lease. False: none is due. */
export async function reconcileNext(deps: ReconcileNextDeps): Promise<boolean> {
  const { store, owner, settings } = deps
  const infra = await store.acquire(owner, settings.leaseMs)
  if (infra === undefined) return false
  const log = deps.log.child({ infra_id: infra.infraId })
  const lease = keepLease(infra, { ...deps, log })
  let afterMs = ERROR_PAUSE_MS
  try {
    afterMs = await reconcile(infra, { ...deps, log, signal: lease.signal })
  } catch (error) {
    // This process ends: another server continues at once.
    if (deps.signal.aborted) afterMs = 0
    else if (lease.signal.aborted || error instanceof LeaseLostError)
      log.warn('the lease of an infrastructure was lost to another server')
    else log.error('the reconciliation of an infrastructure failed', { error })
  } finally {
    await lease[Symbol.asyncDispose]()
    await store.release(infra.no, owner, afterMs)
  }
  return true
}

async function reconcile(infra: InfraRecord, deps: ReconcileNextDeps): Promise<number> {
  const provider = await providerOf(infra, deps)
  return provider === undefined
    ? UNKNOWN_PROVIDER_PAUSE_MS
    : await reconcileInfra(infra, { ...deps, provider })
}

async function providerOf(
  infra: InfraRecord,
  { providers, store, log }: ReconcileNextDeps,
): Promise<CloudProvider | undefined> {
  try {
    return await providers.get(infra.provider)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.error('the provider of an infrastructure cannot be used by this server', { error })
    const waiting = infra.instances.filter(({ status }) => status === 'requested')
    for (const { no } of waiting) await store.setInstanceMessage(no, error.message)
    return undefined
  }
}

/** Renews the lease during a long pass. The signal aborts when the lease is lost. */
function keepLease(infra: InfraRecord, { store, owner, settings, log, signal }: ReconcileNextDeps) {
  const lost = new AbortController()
  let renewing: Promise<void> | undefined
  const renew = async (): Promise<void> => {
    try {
      const renewed = await store.renew(infra.no, owner, settings.leaseMs)
      if (renewed === undefined)
        lost.abort(new LeaseLostError('another server holds the lease of the infrastructure'))
    } catch (error) {
      log.warn('the lease of an infrastructure was not renewed', { error })
    }
  }
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => (renewing = undefined))
  }, settings.leaseMs / RENEWALS)
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await renewing
    },
  }
}
