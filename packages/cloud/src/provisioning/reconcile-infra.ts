import type { InfraRecord, InstanceRecord } from '@scanfarm/store'
import { createKeyPair } from '../machine/ssh-keys.ts'
import { CloudError } from '../provider.ts'
import { createMachines } from './create-machines.ts'
import { abandonMachines, destroyMachines } from './destroy-machines.ts'
import { Reconciliation, type ReconcileDeps } from './reconciliation.ts'
import { destroyDuplicates, watchBooting, watchReady } from './watch-machines.ts'

/** Runs that one statement binds to machines. */
const BIND_LIMIT = 1_000
/** After an error of a provider that names no delay. */
const ERROR_PAUSE_MS = 10_000
const MOST_REASONS = 3

/**
 * One pass over an infrastructure whose lease this owner holds: does what is due and never waits for a machine. Resolves with
 * the time until the next pass. A pass may be interrupted anywhere and repeated by another process.
 */
export async function reconcileInfra(infra: InfraRecord, deps: ReconcileDeps): Promise<number> {
  const pass = new Reconciliation(infra, deps)
  await drainWhenOver(pass)
  try {
    await HANDLERS[pass.infra.status](pass)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    deps.log.warn('a call to a provider failed', { problem: error.problem, error })
    pass.defer(error.retryAfterMs ?? ERROR_PAUSE_MS)
    for (const instance of pass.instancesIn('requested', 'booting'))
      await pass.setMessage(instance, error.message)
  }
  return pass.afterMs
}

const HANDLERS: Readonly<Record<InfraRecord['status'], (pass: Reconciliation) => Promise<void>>> = {
  requested: provision,
  provisioning: provision,
  ready: maintain,
  draining: tearDown,
  destroyed: tearDown,
  failed: tearDown,
}

/** The database checks `workDone` again: an infrastructure to which a job was just bound keeps its machines. */
async function drainWhenOver(pass: Reconciliation): Promise<void> {
  const { no, status, expired, autoDestroy, workDone } = pass.infra
  if (HANDLERS[status] === tearDown || !(expired || (autoDestroy && workDone))) return
  const reason = expired ? 'its time is over' : 'its work is done'
  const moved = await pass.deps.store.moveInfra(no, 'draining', reason, { onlyWhenDone: !expired })
  if (moved) pass.deps.log.info('an infrastructure is being destroyed', { reason })
  await pass.refresh()
}

async function provision(pass: Reconciliation): Promise<void> {
  pass.defer(pass.deps.settings.busyReconcileSeconds * 1000)
  await begin(pass)
  await createMachines(pass)
  await watchBooting(pass)
  await pass.refresh()
  await destroyDuplicates(pass)
  await destroyMachines(pass)
  await finishProvisioning(pass)
}

/** Sets the key and moves to `provisioning`. */
async function begin(pass: Reconciliation): Promise<void> {
  const { infra, deps } = pass
  const { store, provider } = deps
  if (infra.privateKey !== '' && infra.status !== 'requested') return
  if (infra.privateKey === '') {
    const pair = createKeyPair(`scanfarm-${infra.infraId}`)
    await store.setKey(infra.no, { sshUser: provider.defaults.sshUser, ...pair })
  }
  if (infra.status === 'requested') await store.moveInfra(infra.no, 'provisioning', '')
  await pass.refresh()
}

/** When every machine is ready or has failed: → `ready`, or `failed` without a ready machine. */
async function finishProvisioning(pass: Reconciliation): Promise<void> {
  const { infra, deps } = pass
  const { store, log } = deps
  const { instances } = infra
  if (infra.status !== 'provisioning' || pass.instancesIn('requested', 'booting').length > 0) return
  const ready = pass.instancesIn('ready').length
  const reasons = reasonsOf(instances)
  pass.afterMs = 0
  if (ready === 0) return await fail(pass, `no machine came up: ${reasons}`)
  const message =
    ready === instances.length
      ? `${ready} ${ready === 1 ? 'machine is' : 'machines are'} ready`
      : `${ready} of ${instances.length} machines came up: ${reasons}`
  await store.moveInfra(infra.no, 'ready', message)
  log.info('an infrastructure is ready', { message })
  await bindRuns(pass)
}

async function fail(pass: Reconciliation, message: string): Promise<void> {
  await pass.deps.store.moveInfra(pass.infra.no, 'failed', message)
  pass.deps.log.warn('an infrastructure failed', { reason: message })
  pass.afterMs = 0
}

/** The distinct messages of machines that are not ready. */
function reasonsOf(instances: readonly InstanceRecord[]): string {
  const messages = instances.filter(({ status }) => status !== 'ready').map(({ message }) => message)
  const reasons = [...new Set(messages.filter(Boolean))]
  return reasons.slice(0, MOST_REASONS).join('; ') || 'no reason is known'
}

async function bindRuns(pass: Reconciliation): Promise<void> {
  const bound = await pass.deps.store.bindRuns(pass.infra.no, BIND_LIMIT)
  if (bound < BIND_LIMIT) pass.defer(pass.deps.settings.reconcileSeconds * 1000)
}

async function maintain(pass: Reconciliation): Promise<void> {
  await bindRuns(pass)
  await watchReady(pass)
  await pass.refresh()
  if (pass.instancesIn('destroying').length > 0)
    pass.afterMs = Math.min(pass.afterMs, pass.deps.settings.busyReconcileSeconds * 1000)
  await destroyDuplicates(pass)
  await destroyMachines(pass)
  const { status, instances } = pass.infra
  if (status === 'ready' && pass.instancesIn('ready').length === 0)
    await fail(pass, `no machine is left: ${reasonsOf(instances)}`)
}

/** For an infrastructure that is draining, or ended while it still had machines. */
async function tearDown(pass: Reconciliation): Promise<void> {
  const { store, log, settings } = pass.deps
  const { status, no, message } = pass.infra
  const begun = await abandonMachines(pass, message || 'the infrastructure is destroyed')
  pass.defer(begun ? 0 : settings.busyReconcileSeconds * 1000)
  await destroyDuplicates(pass)
  await destroyMachines(pass)
  // The database refuses it while a machine is left.
  if (status === 'draining' && (await store.moveInfra(no, 'destroyed', message)))
    log.info('an infrastructure is destroyed')
}
