import { errorText } from '@scanfarm/platform'
import type { InstanceRecord } from '@scanfarm/store'
import { makeKeyPair, type SshKeyPair } from '../keys.ts'
import { userDataOf } from '../machine/user-data.ts'
import { CloudError, type MachineRequest } from '../provider.ts'
import { atMost } from './at-most.ts'
import type { Look } from './look.ts'

/** Expiry is the reaper's business only when those whose business it is have not done it for so long. */
const EXPIRY_MARGIN_S = 600

/**
 * Makes machines for rows in status `requested`. One that may have been asked for before, by whoever died over it or got no
 * answer, is looked for by its name first; it is asked for anew only when it has had the time to show up.
 */
export async function makeMachines(look: Look): Promise<void> {
  const { parallelCreates } = look.deps.settings
  const missing: InstanceRecord[] = []
  for (const instance of look.with('requested')) if (await isMissing(look, instance)) missing.push(instance)
  let stopped = false
  await atMost(parallelCreates, missing, async (instance) => {
    // A provider that is overloaded or not there is not asked for more.
    if (!stopped) stopped = !(await make(look, instance))
  })
}

async function isMissing(look: Look, instance: InstanceRecord): Promise<boolean> {
  const sighting = await look.find(instance)
  if (sighting.kind === 'there') {
    await look.move(instance, 'booting', { resourceId: sighting.machine.id, message: '' })
    return false
  }
  if (sighting.kind === 'unsure') return false
  const { bootMinutes } = look.deps.settings
  if (instance.askedMsAgo === null || Date.now() - Date.parse(instance.createdAt) < bootMinutes * 60_000)
    return true
  const message = `it could not be made in ${bootMinutes} minutes: ${instance.message}`
  await look.move(instance, 'failed', { message })
  return false
}

/** False: do not ask for more now. */
async function make(look: Look, instance: InstanceRecord): Promise<boolean> {
  const { store, provider, owner, signal } = look.deps
  const hostKey = await hostKeyOf(look, instance)
  if (!(await store.asking(instance.no, owner))) return false
  try {
    const machine = await provider.create(requestOf(look, instance, hostKey), signal)
    await look.move(instance, 'booting', { resourceId: machine.id, message: '' })
    return true
  } catch (error) {
    if (!(error instanceof CloudError)) {
      if (!signal.aborted) await look.note(instance, errorText(error))
      throw error
    }
    return await explain(look, instance, error)
  }
}

async function explain(look: Look, instance: InstanceRecord, error: CloudError): Promise<boolean> {
  const { log } = look.deps
  const { problem, message } = error
  log.warn('a provider did not make a machine', { machine: instance.name, problem, error })
  if (problem !== 'unavailable') {
    await look.move(instance, 'failed', { message })
    return true
  }
  look.defer(error.retryAfterMs)
  await look.note(instance, message)
  return false
}

async function hostKeyOf(look: Look, instance: InstanceRecord): Promise<SshKeyPair> {
  if (instance.hostKey !== '') return { privateKey: instance.hostKeyPrivate, publicKey: instance.hostKey }
  const pair = makeKeyPair(instance.name)
  await look.deps.store.setHostKey(instance.no, pair)
  return pair
}

function requestOf({ infra, deps }: Look, { name }: InstanceRecord, hostKey: SshKeyPair): MachineRequest {
  const { sshUser, publicKey } = infra
  const expires = Math.ceil(Date.parse(infra.expiresAt) / 1000) + EXPIRY_MARGIN_S
  return {
    name,
    labels: { farm: deps.farmId, infra: infra.infraId, expires },
    region: infra.region,
    type: infra.instanceType,
    spot: infra.useSpot,
    userData: userDataOf({
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
