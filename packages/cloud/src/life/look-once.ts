import type { InfraRecord } from '@scanfarm/store'
import { LostInfraError, type LookDeps } from './look.ts'
import { lookAt } from './look-at.ts'
import type { CloudProviders } from '../open-providers.ts'
import { CloudError, type CloudProvider } from '../provider.ts'

/** After a look that failed for a reason that is nobody's plan. */
const FAILED_PAUSE_MS = 10_000
/** A provider that the settings of this process do not name may be named in another's. */
const UNKNOWN_PROVIDER_PAUSE_MS = 30_000
/** The hold is renewed so many times before it would end. */
const RENEWALS = 3

export interface LookOnceDeps extends Omit<LookDeps, 'provider'> {
  readonly providers: Pick<CloudProviders, 'get'>
}

/** Takes one infrastructure that needs a look, looks, and gives it back. False: there was none. */
export async function lookOnce(deps: LookOnceDeps): Promise<boolean> {
  const { store, owner, settings } = deps
  const infra = await store.take(owner, settings.holdMs)
  if (infra === undefined) return false
  const log = deps.log.child({ infra_id: infra.infraId })
  const hold = holdOn(infra, { ...deps, log })
  let afterMs = FAILED_PAUSE_MS
  try {
    afterMs = await look(infra, { ...deps, log, signal: hold.signal })
  } catch (error) {
    // Another server's turn must not wait for the pause.
    if (deps.signal.aborted) afterMs = 0
    else if (hold.signal.aborted || error instanceof LostInfraError)
      log.warn('another server looks after an infrastructure now')
    else log.error('a look at an infrastructure failed', { error })
  } finally {
    await hold[Symbol.asyncDispose]()
    await store.release(infra.no, owner, afterMs)
  }
  return true
}

async function look(infra: InfraRecord, deps: LookOnceDeps): Promise<number> {
  const provider = await providerOf(infra, deps)
  return provider === undefined ? UNKNOWN_PROVIDER_PAUSE_MS : await lookAt(infra, { ...deps, provider })
}

async function providerOf(
  infra: InfraRecord,
  { providers, store, log }: LookOnceDeps,
): Promise<CloudProvider | undefined> {
  try {
    return await providers.get(infra.provider)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.error('an infrastructure is at a provider that cannot be used here', { error })
    const waiting = infra.instances.filter(({ status }) => status === 'requested')
    for (const { no } of waiting) await store.noteInstance(no, error.message)
    return undefined
  }
}

/** Renews the hold while a look takes its time; the signal aborts when it is lost all the same. */
function holdOn(infra: InfraRecord, { store, owner, settings, log, signal }: LookOnceDeps) {
  const lost = new AbortController()
  let renewing: Promise<void> | undefined
  const renew = async (): Promise<void> => {
    try {
      const mine = await store.again(infra.no, owner, settings.holdMs)
      if (mine === undefined) lost.abort(new LostInfraError('another server holds the infrastructure now'))
    } catch (error) {
      log.warn('the hold on an infrastructure is not renewed', { error })
    }
  }
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => (renewing = undefined))
  }, settings.holdMs / RENEWALS)
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await renewing
    },
  }
}
