import type { InstanceRecord } from '@scanfarm/store'
import { CloudError } from '../provider.ts'
import { atMost } from './at-most.ts'
import type { Look } from './look.ts'

const DESTROYED_AT_ONCE = 8
const STILL = '; it cannot be destroyed yet: '

/** Asks for the end of what is to be destroyed, until the provider no longer has it. */
export async function destroyMachines(look: Look): Promise<void> {
  await atMost(DESTROYED_AT_ONCE, look.with('destroying'), async (instance) => {
    const sighting = await look.find(instance)
    if (sighting.kind === 'gone')
      await look.move(instance, endOf(instance), { message: withoutStill(instance.message) })
    else if (sighting.kind === 'there') await destroy(look, instance, sighting.machine.id)
    else if (instance.resourceId !== '') await destroy(look, instance, instance.resourceId)
  })
}

async function destroy(look: Look, instance: InstanceRecord, id: string): Promise<void> {
  const { provider, signal, log } = look.deps
  try {
    await provider.destroy(id, signal)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn('a provider does not destroy a machine', { machine: instance.name, id, error })
    look.defer(error.retryAfterMs)
    await look.note(instance, `${withoutStill(instance.message)}${STILL}${error.message}`)
  }
}

/** Why it is being destroyed, without why that takes long. */
const withoutStill = (message: string): string => message.split(STILL)[0] ?? ''

/** Only a machine that was ready has given up the private half of its host key. */
const endOf = ({ hostKey, hostKeyPrivate }: InstanceRecord): 'destroyed' | 'failed' =>
  hostKey !== '' && hostKeyPrivate === '' ? 'destroyed' : 'failed'

/** Everything that the infrastructure still has is to be destroyed. True: the next look has something to destroy. */
export async function giveUpMachines(look: Look, reason: string): Promise<boolean> {
  let begun = false
  for (const instance of look.with('requested', 'booting', 'ready')) {
    const sighting = instance.status === 'requested' ? await look.find(instance) : undefined
    if (sighting?.kind === 'unsure') continue
    if (sighting?.kind === 'gone') {
      await look.move(instance, 'failed', { message: instance.message || `it was not made: ${reason}` })
      continue
    }
    const resourceId = sighting?.machine.id
    begun = (await look.move(instance, 'destroying', { message: reason, resourceId })) || begun
  }
  return begun
}
