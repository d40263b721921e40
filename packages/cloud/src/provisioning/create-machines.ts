import { errorText } from '@scanfarm/platform'
import type { InstanceRecord } from '@scanfarm/store'
import { createKeyPair, type SshKeyPair } from '../machine/ssh-keys.ts'
import { renderUserData } from '../machine/user-data.ts'
import { CloudError, type MachineRequest } from '../provider.ts'
import { forEachParallel, type Reconciliation } from './reconciliation.ts'

/** The reaper destroys a machine only if the infrastructure's own expiry has not done so within this time. */
const EXPIRY_MARGIN_S = 600

/**
 * Creates machines for rows in status `requested`. A machine whose earlier create call had no known outcome is searched by
 * its name first, and created again only after the time in which it could appear in the provider's list.
 */
export async function createMachines(pass: Reconciliation): Promise<void> {
  const { parallelCreates } = pass.deps.settings
  const missing: InstanceRecord[] = []
  for (const instance of pass.instancesIn('requested'))
    if (await mustCreate(pass, instance)) missing.push(instance)
  let stopped = false
  await forEachParallel(parallelCreates, missing, async (instance) => {
    // A provider that is unavailable gets no further calls in this pass.
    if (!stopped) stopped = !(await create(pass, instance))
  })
}

async function mustCreate(pass: Reconciliation, instance: InstanceRecord): Promise<boolean> {
  const observed = await pass.observe(instance)
  if (observed.kind === 'found') {
    await pass.move(instance, 'booting', { resourceId: observed.machine.id, message: '' })
    return false
  }
  if (observed.kind === 'pending') return false
  const { bootMinutes } = pass.deps.settings
  const { createStartedMsAgo, createdAt, message } = instance
  if (createStartedMsAgo === null || Date.now() - Date.parse(createdAt) < bootMinutes * 60_000) return true
  await pass.move(instance, 'failed', {
    message: `it could not be created in ${bootMinutes} minutes: ${message}`,
  })
  return false
}

/** False: stop creating machines in this pass. */
async function create(pass: Reconciliation, instance: InstanceRecord): Promise<boolean> {
  const { store, provider, owner, signal } = pass.deps
  const hostKey = await ensureHostKey(pass, instance)
  if (!(await store.markCreateStarted(instance.no, owner))) return false
  try {
    const machine = await provider.create(requestOf(pass, instance, hostKey), signal)
    await pass.move(instance, 'booting', { resourceId: machine.id, message: '' })
    return true
  } catch (error) {
    if (!(error instanceof CloudError)) {
      if (!signal.aborted) await pass.setMessage(instance, errorText(error))
      throw error
    }
    return await recordFailure(pass, instance, error)
  }
}

async function recordFailure(
  pass: Reconciliation,
  instance: InstanceRecord,
  error: CloudError,
): Promise<boolean> {
  const { problem, message } = error
  pass.deps.log.warn('a provider did not create a machine', { machine: instance.name, problem, error })
  if (problem !== 'unavailable') {
    await pass.move(instance, 'failed', { message })
    return true
  }
  pass.defer(error.retryAfterMs)
  await pass.setMessage(instance, message)
  return false
}

async function ensureHostKey(pass: Reconciliation, instance: InstanceRecord): Promise<SshKeyPair> {
  if (instance.hostKey !== '') return { privateKey: instance.hostKeyPrivate, publicKey: instance.hostKey }
  const pair = createKeyPair(instance.name)
  await pass.deps.store.setHostKey(instance.no, pair)
  return pair
}

function requestOf(
  { infra, deps }: Reconciliation,
  { name }: InstanceRecord,
  hostKey: SshKeyPair,
): MachineRequest {
  const { sshUser, publicKey } = infra
  const expires = Math.ceil(Date.parse(infra.expiresAt) / 1000) + EXPIRY_MARGIN_S
  return {
    name,
    labels: { farm: deps.farmId, infra: infra.infraId, expires },
    region: infra.region,
    type: infra.instanceType,
    spot: infra.useSpot,
    userData: renderUserData({
      user: sshUser,
      publicKey,
      hostKey,
      tools: infra.tools,
      commands: deps.settings.setup,
      workFolder: deps.settings.workFolder,
    }),
    sshUser,
    publicKey,
  }
}
