import type { CloudInfra } from '@scanfarm/contracts'
import type { InfraRecord, InstanceRecord } from '../src/cloud/infra-records.ts'
import type { CloudBudget, InfraDraft } from '../src/cloud/requests.ts'
import type { Store } from '../src/store.ts'
import { submitted, targets } from './fixtures.ts'

export const infraDraft = (changes: Partial<InfraDraft> = {}): InfraDraft => ({
  provider: 'local',
  region: 'here',
  instanceType: 'small',
  useSpot: false,
  instances: 2,
  autoDestroy: false,
  hours: 2,
  hourlyPrice: 0.5,
  tools: ['nmap'],
  ...changes,
})

export const budget = (changes: Partial<CloudBudget> = {}): CloudBudget => ({
  instances: 100,
  totalInstances: 1_000,
  hours: 100,
  totalInstanceHours: null,
  cost: null,
  totalCost: null,
  ...changes,
})

export const request = (store: Store, changes: Partial<InfraDraft> = {}): Promise<CloudInfra> =>
  store.cloud.request(infraDraft(changes), budget())

const OWNER = 'test'
const LEASE_MS = 60_000

/** The record of an infrastructure that is not leased. */
export async function recordOf(store: Store, infraId: string): Promise<InfraRecord> {
  const held: InfraRecord[] = []
  try {
    for (;;) {
      const next = await store.cloud.acquire(OWNER, LEASE_MS)
      if (!next) throw new Error(`the lease of ${infraId} cannot be acquired`)
      held.push(next)
      if (next.infraId === infraId) return next
    }
  } finally {
    for (const { no } of held) await store.cloud.release(no, OWNER, 0)
  }
}

/** Makes all or the first `count` machines ready; the others fail. */
export async function bringUp(
  store: Store,
  infraId: string,
  count = Number.POSITIVE_INFINITY,
): Promise<{ no: number; instances: InstanceRecord[] }> {
  const { no, instances } = await recordOf(store, infraId)
  await store.cloud.moveInfra(no, 'provisioning', '')
  await store.cloud.setKey(no, {
    sshUser: 'scan',
    privateKey: 'secret of infra',
    publicKey: 'ssh-ed25519 AAAA',
  })
  for (const [n, one] of instances.entries()) {
    await store.cloud.setHostKey(one.no, { privateKey: 'secret of host', publicKey: `ssh-ed25519 HOST${n}` })
    if (n >= count) {
      await store.cloud.moveInstance(one.no, 'failed', { message: 'quota exceeded' })
      continue
    }
    await store.cloud.moveInstance(one.no, 'booting', { resourceId: `vm-${n}` })
    await store.cloud.moveInstance(one.no, 'ready', { address: `192.0.2.${n + 1}`, port: 2222 })
  }
  await store.cloud.moveInfra(no, 'ready', '')
  return { no, instances: instances.slice(0, count) }
}

/** A cloud job on ready machines, with bound or unbound runs. */
export async function cloudJob(
  store: Store,
  options: {
    runs?: number
    draft?: Parameters<typeof submitted>[1]
    infra?: Partial<InfraDraft>
    bind?: boolean
  } = {},
) {
  const job = await submitted(store, { runMode: 'cloud', ...options.draft }, targets(options.runs ?? 1), {
    cloud: { infra: infraDraft(options.infra), budget: budget() },
  })
  const run = await store.runs.find(String(job.runIds[0]))
  if (!run) throw new Error('the run is not there')
  const infra = await bringUp(store, run.infra_id)
  if (options.bind ?? true) await store.cloud.bindRuns(infra.no, 10_000)
  return { ...job, ...infra, infraId: run.infra_id }
}

/** Machine names in the order of the runs. */
export const machinesOf = async (store: Store, runIds: readonly number[]): Promise<string[]> =>
  Promise.all(
    runIds.map(async (id) => (await store.runs.find(String(id)))?.cloud_instance.split('-').at(-1) ?? '?'),
  )
