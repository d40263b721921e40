import type { modules } from 'dots-wrapper'
import type { Machine, MachineState } from '../../provider.ts'
import { labelsOfWords } from '../tag-words.ts'

type Droplet = modules.droplet.IDroplet

/** The rest is off, put away, or unknown: no use for work. */
const STATES: Readonly<Record<string, MachineState>> = { new: 'starting', active: 'running' }

export const machineOf = (droplet: Droplet, privateAddress: boolean): Machine => ({
  id: String(droplet.id),
  name: droplet.name,
  state: STATES[droplet.status] ?? 'stopping',
  address: addressOf(droplet, privateAddress),
  port: 22,
  labels: labelsOfWords(droplet.tags),
  message: droplet.status in STATES ? '' : `the droplet is ${droplet.status}`,
})

function addressOf({ networks }: Droplet, privateAddress: boolean): string | undefined {
  const wanted = privateAddress ? 'private' : 'public'
  const of = (addresses: Droplet['networks']['v4'] | undefined) =>
    addresses?.find(({ type }) => type === wanted)?.ip_address
  return of(networks.v4) ?? of(networks.v6)
}
