import type { Machine, MachineState } from '../../provider.ts'
import { labelsOfTags } from '../label-keys.ts'
import { stateOfOff } from '../powered-off.ts'
import type { Server } from './answers.ts'

const STATES: Readonly<Record<string, MachineState>> = {
  initializing: 'starting',
  starting: 'starting',
  migrating: 'starting',
  rebuilding: 'starting',
  // Of Hetzner's own machine underneath, while it does not answer.
  unknown: 'starting',
  running: 'running',
}

export const machineOf = (server: Server, privateAddress: boolean): Machine => ({
  id: String(server.id),
  name: server.name,
  state: (server.status === 'off' ? stateOfOff(server.created) : STATES[server.status]) ?? 'stopping',
  address: privateAddress ? server.private_net[0]?.ip : publicAddress(server),
  port: 22,
  labels: labelsOfTags(server.labels),
  message: server.status === 'running' ? '' : `the server is ${server.status}`,
})

const publicAddress = ({ public_net: { ipv4, ipv6 } }: Server): string | undefined =>
  ipv4?.ip ?? ipv6?.ip.replace(/::\/64$/, '::1')
