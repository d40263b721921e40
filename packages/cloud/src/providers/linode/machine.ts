import type { Machine, MachineState } from '../../provider.ts'
import { stateOfOff } from '../powered-off.ts'
import { labelsOfWords } from '../tag-words.ts'
import type { LinodeMachine } from './sdk.ts'

const STATES: Readonly<Record<string, MachineState>> = {
  provisioning: 'starting',
  booting: 'starting',
  rebooting: 'starting',
  rebuilding: 'starting',
  migrating: 'starting',
  running: 'running',
}

const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/

export const machineOf = (linode: LinodeMachine): Machine => {
  const state = linode.status === 'offline' ? stateOfOff(`${linode.created}Z`) : STATES[linode.status]
  return {
    id: String(linode.id),
    name: linode.label,
    state: state ?? 'stopping',
    address: linode.ipv4.find((address) => !PRIVATE.test(address)) ?? linode.ipv6?.replace(/\/\d+$/, ''),
    port: 22,
    labels: labelsOfWords(linode.tags),
    message: linode.status === 'running' ? '' : `the Linode is ${linode.status.replace('_', ' ')}`,
  }
}
