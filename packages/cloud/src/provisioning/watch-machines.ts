import type { InstanceRecord } from '@scanfarm/store'
import { checkMachine, type Readiness } from '../machine/check-machine.ts'
import { CloudError, type Machine } from '../provider.ts'
import { forEachParallel, type Reconciliation } from './reconciliation.ts'

const PARALLEL_CHECKS = 8
const GONE = 'the provider does not have it any more'

type Progress = Readiness & { readonly address?: string; readonly port?: number }

/** Moves booting machines to `ready`, or to `destroying` if they cannot become ready. */
export async function watchBooting(pass: Reconciliation): Promise<void> {
  await forEachParallel(PARALLEL_CHECKS, pass.instancesIn('booting'), async (instance) => {
    const progress = await progressOf(pass, instance)
    if (progress.kind === 'ready') {
      const { address, port } = progress
      await pass.move(instance, 'ready', { address, port, message: '' })
    } else if (progress.kind === 'never')
      await pass.move(instance, 'destroying', { message: progress.reason })
    else await waitOrGiveUp(pass, instance, progress.reason)
  })
}

async function waitOrGiveUp(pass: Reconciliation, instance: InstanceRecord, reason: string): Promise<void> {
  const { bootMinutes } = pass.deps.settings
  if ((instance.createStartedMsAgo ?? 0) < bootMinutes * 60_000)
    return await pass.setMessage(instance, reason)
  await pass.move(instance, 'destroying', {
    message: `it was not ready in ${bootMinutes} minutes: ${reason}`,
  })
}

async function progressOf(pass: Reconciliation, instance: InstanceRecord): Promise<Progress> {
  const observed = await pass.observe(instance)
  if (observed.kind === 'pending') return { kind: 'not-yet', reason: 'the provider does not list it yet' }
  if (observed.kind === 'gone') return { kind: 'never', reason: GONE }
  const { machine } = observed
  if (isStopping(machine)) return { kind: 'never', reason: stoppingReason(machine) }
  const { address, port } = machine
  if (address === undefined) return { kind: 'not-yet', reason: 'it has no address yet' }
  const { infra, deps } = pass
  const { sshTimeoutMs: timeoutMs, path, markerFile } = deps.settings
  const host = { address, port, user: infra.sshUser, privateKey: infra.privateKey, hostKey: instance.hostKey }
  const options = { tools: infra.tools, timeoutMs, signal: deps.signal, path, markerFile }
  return { ...(await checkMachine(host, options)), address, port }
}

/** Detects ready machines that stopped or disappeared. Their runs are queued again. */
export async function watchReady(pass: Reconciliation): Promise<void> {
  const { store, log, metrics } = pass.deps
  for (const instance of pass.instancesIn('ready')) {
    const observed = await pass.observe(instance)
    if (observed.kind === 'pending') continue
    if (observed.kind === 'found' && !isStopping(observed.machine)) continue
    const reason = observed.kind === 'found' ? stoppingReason(observed.machine) : GONE
    const { moved } = await store.loseInstance(instance.no, reason)
    metrics?.moved(pass.infra.provider, 'destroying')
    log.warn('a machine was lost', { machine: instance.name, reason, runs_moved: moved })
  }
}

/** Destroys machines that have the name of a known machine but another id. */
export async function destroyDuplicates(pass: Reconciliation): Promise<void> {
  const { provider, signal, log, metrics } = pass.deps
  for (const { name, resourceId } of pass.instancesIn('booting', 'ready', 'destroying')) {
    if (resourceId === '') continue
    for (const { id } of await pass.machinesNamed(name)) {
      if (id === resourceId) continue
      log.warn('a machine was created twice, one is destroyed', { machine: name, id })
      try {
        await provider.destroy(id, signal)
        metrics?.leftoverDestroyed(pass.infra.provider)
      } catch (error) {
        // The next pass tries again; the rest of this pass continues.
        if (!(error instanceof CloudError)) throw error
        log.warn('a provider did not destroy a machine', { machine: name, id, error })
      }
    }
  }
}

const isStopping = ({ state }: Machine): boolean => state === 'stopping' || state === 'gone'

const stoppingReason = ({ message }: Machine): string =>
  message === '' ? 'the provider is stopping it' : `the provider is stopping it: ${message}`
