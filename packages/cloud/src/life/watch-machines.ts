import type { InstanceRecord } from '@scanfarm/store'
import { checkMachine } from '../machine/ssh-check.ts'
import { CloudError, type Machine } from '../provider.ts'
import { atMost } from './at-most.ts'
import type { Look } from './look.ts'

const CHECKS_AT_ONCE = 8

type Progress =
  | { readonly kind: 'ready'; readonly address: string; readonly port: number }
  | { readonly kind: 'not-yet' | 'never'; readonly reason: string }

/** Follows machines that were made until they can be used, or will never be. */
export async function watchBooting(look: Look): Promise<void> {
  await atMost(CHECKS_AT_ONCE, look.with('booting'), async (instance) => {
    const progress = await progressOf(look, instance)
    if (progress.kind === 'ready') {
      const { address, port } = progress
      await look.move(instance, 'ready', { address, port, message: '' })
    } else if (progress.kind === 'never')
      await look.move(instance, 'destroying', { message: progress.reason })
    else await wait(look, instance, progress.reason)
  })
}

async function wait(look: Look, instance: InstanceRecord, reason: string): Promise<void> {
  const { bootMinutes } = look.deps.settings
  if ((instance.askedMsAgo ?? 0) < bootMinutes * 60_000) return await look.note(instance, reason)
  await look.move(instance, 'destroying', {
    message: `it was not ready in ${bootMinutes} minutes: ${reason}`,
  })
}

async function progressOf(look: Look, instance: InstanceRecord): Promise<Progress> {
  const sighting = await look.find(instance)
  if (sighting.kind === 'unsure') return { kind: 'not-yet', reason: 'the provider does not show it yet' }
  if (sighting.kind === 'gone') return { kind: 'never', reason: 'the provider does not have it any more' }
  const { machine } = sighting
  if (isLeaving(machine)) return { kind: 'never', reason: leavingReason(machine) }
  if (machine.address === undefined) return { kind: 'not-yet', reason: 'it has no address yet' }
  return await checkAt(look, instance, machine, machine.address)
}

async function checkAt(
  { infra, deps }: Look,
  { hostKey }: InstanceRecord,
  { port }: Machine,
  address: string,
): Promise<Progress> {
  const place = { address, port, user: infra.sshUser, privateKey: infra.privateKey, hostKey }
  const { sshTimeoutMs: timeoutMs, path, markerFile } = deps.settings
  const { signal } = deps
  const readiness = await checkMachine(place, { tools: infra.tools, timeoutMs, signal, path, markerFile })
  return readiness.kind === 'ready' ? { kind: 'ready', address, port } : readiness
}

/** Notices machines that were ready and that nobody here destroyed. Their runs move. */
export async function watchReady(look: Look): Promise<void> {
  const { store, log, metrics } = look.deps
  for (const instance of look.with('ready')) {
    const sighting = await look.find(instance)
    if (sighting.kind === 'unsure') continue
    if (sighting.kind === 'there' && !isLeaving(sighting.machine)) continue
    const reason =
      sighting.kind === 'there' ? leavingReason(sighting.machine) : 'the provider does not have it any more'
    const { moved } = await store.instanceLost(instance.no, reason)
    metrics?.moved(look.infra.provider, 'destroying')
    log.warn('a machine was lost', { machine: instance.name, reason, runs_moved: moved })
  }
}

/** A machine with the name of one whose id the farm knows, and another id, is too many. */
export async function destroyDoubles(look: Look): Promise<void> {
  const { provider, signal, log, metrics } = look.deps
  for (const instance of look.with('booting', 'ready', 'destroying')) {
    if (instance.resourceId === '') continue
    for (const machine of await look.named(instance.name)) {
      if (machine.id === instance.resourceId) continue
      log.warn('a machine was made twice, one is destroyed', { machine: instance.name, id: machine.id })
      try {
        await provider.destroy(machine.id, signal)
        metrics?.leftoverDestroyed(look.infra.provider)
      } catch (error) {
        // What else is due does not wait for it: the next look sees it again.
        if (!(error instanceof CloudError)) throw error
        log.warn('a provider does not destroy a machine', { machine: instance.name, id: machine.id, error })
      }
    }
  }
}

const isLeaving = ({ state }: Machine): boolean => state === 'stopping' || state === 'gone'

const leavingReason = ({ message }: Machine): string =>
  message === '' ? 'the provider takes it away' : `the provider takes it away: ${message}`
