import type { InfraRecord, InstanceRecord } from '@scanfarm/store'
import { makeKeyPair } from '../keys.ts'
import { CloudError } from '../provider.ts'
import { destroyMachines, giveUpMachines } from './destroy-machines.ts'
import { Look, type LookDeps } from './look.ts'
import { makeMachines } from './make-machines.ts'
import { destroyDoubles, watchBooting, watchReady } from './watch-machines.ts'

/** Runs that are bound to machines in one statement. */
const BIND_LIMIT = 1_000
/** A provider that says nothing about when to ask again. */
const PROBLEM_PAUSE_MS = 10_000
const MOST_REASONS = 3

/**
 * One look at one infrastructure that this owner holds: does what is due, without waiting for what takes time. Resolves
 * with the time after which the next look is due. May be cut off at any point, and repeated by another process.
 */
export async function lookAt(infra: InfraRecord, deps: LookDeps): Promise<number> {
  const look = new Look(infra, deps)
  await endWhenOver(look)
  try {
    await ACTS[look.infra.status](look)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    deps.log.warn('a provider could not be asked', { problem: error.problem, error })
    look.defer(error.retryAfterMs ?? PROBLEM_PAUSE_MS)
    for (const instance of look.with('requested', 'booting')) await look.note(instance, error.message)
  }
  return look.afterMs
}

const ACTS: Readonly<Record<InfraRecord['status'], (look: Look) => Promise<void>>> = {
  requested: provision,
  provisioning: provision,
  ready: tend,
  draining: clearAway,
  destroyed: clearAway,
  failed: clearAway,
}

/** `workDone` is asked for again by the move itself: a job that was bound a moment ago keeps its machines. */
async function endWhenOver(look: Look): Promise<void> {
  const { no, status, expired, autoDestroy, workDone } = look.infra
  if (ACTS[status] === clearAway || !(expired || (autoDestroy && workDone))) return
  const reason = expired ? 'its time is over' : 'its work is done'
  const moved = await look.deps.store.moveInfra(no, 'draining', reason, { onlyWhenDone: !expired })
  if (moved) look.deps.log.info('an infrastructure is given up', { reason })
  await look.refresh()
}

async function provision(look: Look): Promise<void> {
  look.defer(look.deps.settings.busyLookSeconds * 1000)
  await begin(look)
  await makeMachines(look)
  await watchBooting(look)
  await look.refresh()
  await destroyDoubles(look)
  await destroyMachines(look)
  await settle(look)
}

/** Gives it a key and takes it to `provisioning`. */
async function begin(look: Look): Promise<void> {
  const { infra, deps } = look
  const { store, provider } = deps
  if (infra.privateKey !== '' && infra.status !== 'requested') return
  if (infra.privateKey === '') {
    const pair = makeKeyPair(`scanfarm-${infra.infraId}`)
    await store.setKey(infra.no, { sshUser: provider.defaults.sshUser, ...pair })
  }
  if (infra.status === 'requested') await store.moveInfra(infra.no, 'provisioning', '')
  await look.refresh()
}

/** When no machine is on its way any more: work begins, or there is nothing to work on. */
async function settle(look: Look): Promise<void> {
  const { infra, deps } = look
  const { store, log } = deps
  const { instances } = infra
  if (infra.status !== 'provisioning') return
  if (instances.some(({ status }) => status === 'requested' || status === 'booting')) return
  const ready = instances.filter(({ status }) => status === 'ready')
  const why = reasonsOf(instances)
  look.afterMs = 0
  if (ready.length === 0) {
    const message = `no machine came up: ${why}`
    await store.moveInfra(infra.no, 'failed', message)
    log.warn('an infrastructure failed', { reason: message })
    return
  }
  const message =
    ready.length === instances.length
      ? `${ready.length} ${ready.length === 1 ? 'machine is' : 'machines are'} ready`
      : `${ready.length} of ${instances.length} machines came up: ${why}`
  await store.moveInfra(infra.no, 'ready', message)
  log.info('an infrastructure is ready', { message })
  await bind(look)
}

/** The words of those that are not ready, each once. */
function reasonsOf(instances: readonly InstanceRecord[]): string {
  const messages = instances.filter(({ status }) => status !== 'ready').map(({ message }) => message)
  const reasons = [...new Set(messages.filter(Boolean))]
  return reasons.slice(0, MOST_REASONS).join('; ') || 'nobody said why'
}

async function bind(look: Look): Promise<void> {
  const bound = await look.deps.store.bindRuns(look.infra.no, BIND_LIMIT)
  if (bound < BIND_LIMIT) look.defer(look.deps.settings.lookSeconds * 1000)
}

async function tend(look: Look): Promise<void> {
  const { settings, store, log } = look.deps
  await bind(look)
  await watchReady(look)
  await look.refresh()
  if (look.with('destroying').length > 0)
    look.afterMs = Math.min(look.afterMs, settings.busyLookSeconds * 1000)
  await destroyDoubles(look)
  await destroyMachines(look)
  const { status, no, instances } = look.infra
  if (status !== 'ready' || look.with('ready').length > 0) return
  const message = `no machine is left: ${reasonsOf(instances)}`
  await store.moveInfra(no, 'failed', message)
  log.warn('an infrastructure failed', { reason: message })
  look.afterMs = 0
}

/** An ended infrastructure whose machines are not, or one that is being given up. */
async function clearAway(look: Look): Promise<void> {
  const { store, log, settings } = look.deps
  const { status, no, message } = look.infra
  const begun = await giveUpMachines(look, message || 'the infrastructure is destroyed')
  look.defer(begun ? 0 : settings.busyLookSeconds * 1000)
  await destroyDoubles(look)
  await destroyMachines(look)
  // Refused while any machine is left.
  if (status === 'draining' && (await store.moveInfra(no, 'destroyed', message)))
    log.info('an infrastructure is destroyed')
}
