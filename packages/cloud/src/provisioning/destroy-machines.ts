import type { InstanceRecord } from '@scanfarm/store'
import { CloudError } from '../provider.ts'
import { forEachParallel, type Reconciliation } from './reconciliation.ts'

const PARALLEL_DESTROYS = 8
const NOT_YET = '; it cannot be destroyed yet: '

/** Repeats the destroy calls in each pass until the provider no longer has the machines. */
export async function destroyMachines(pass: Reconciliation): Promise<void> {
  await forEachParallel(PARALLEL_DESTROYS, pass.instancesIn('destroying'), async (instance) => {
    const observed = await pass.observe(instance)
    if (observed.kind === 'gone')
      await pass.move(instance, endOf(instance), { message: reasonOf(instance.message) })
    else if (observed.kind === 'found') await destroy(pass, instance, observed.machine.id)
    else if (instance.resourceId !== '') await destroy(pass, instance, instance.resourceId)
  })
}

async function destroy(pass: Reconciliation, instance: InstanceRecord, id: string): Promise<void> {
  const { provider, signal, log } = pass.deps
  try {
    await provider.destroy(id, signal)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn('a provider did not destroy a machine', { machine: instance.name, id, error })
    pass.defer(error.retryAfterMs)
    await pass.setMessage(instance, `${reasonOf(instance.message)}${NOT_YET}${error.message}`)
  }
}

/** Why the machine is destroyed, without the error of the last destroy call. */
const reasonOf = (message: string): string => message.split(NOT_YET)[0] ?? ''

/** Only a machine that was ready has no private host key in its row any more. */
const endOf = ({ hostKey, hostKeyPrivate }: InstanceRecord): 'destroyed' | 'failed' =>
  hostKey !== '' && hostKeyPrivate === '' ? 'destroyed' : 'failed'

/** Moves all machines of the infrastructure to `destroying`. True: the next pass has something to destroy. */
export async function abandonMachines(pass: Reconciliation, reason: string): Promise<boolean> {
  let begun = false
  for (const instance of pass.instancesIn('requested', 'booting', 'ready')) {
    const observed = instance.status === 'requested' ? await pass.observe(instance) : undefined
    if (observed?.kind === 'pending') continue
    if (observed?.kind === 'gone') {
      await pass.move(instance, 'failed', { message: instance.message || `it was not created: ${reason}` })
      continue
    }
    const resourceId = observed?.machine.id
    begun = (await pass.move(instance, 'destroying', { message: reason, resourceId })) || begun
  }
  return begun
}
