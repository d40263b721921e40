import type Docker from 'dockerode'
import { statusOf } from '@scanfarm/runners'

/** Only for machines, and never removed: an engine may have no default network. */
const NETWORK = 'scanfarm-machines'

export interface MachineNetwork {
  readonly id: string
  /** Address of the engine's host in the network; undefined if the engine does not report it. */
  readonly gateway: string | undefined
}

/** The network of machines, created when it is missing. */
export async function provideNetwork(docker: Docker): Promise<MachineNetwork> {
  try {
    const { Id: id, IPAM: plan } = await docker.getNetwork(NETWORK).inspect()
    return { id, gateway: plan?.Config?.[0]?.Gateway }
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
  // A concurrent call may have created it.
  await docker
    .createNetwork({ Name: NETWORK, Driver: 'bridge', CheckDuplicate: true })
    .catch((error: unknown) => {
      if (statusOf(error) !== 409) throw error
    })
  return provideNetwork(docker)
}

/** Does nothing while the network has machines, or if it is gone. */
export async function removeNetwork(docker: Docker): Promise<void> {
  await docker
    .getNetwork(NETWORK)
    .remove()
    .catch((error: unknown) => {
      if (statusOf(error) !== 404 && statusOf(error) !== 403) throw error
    })
}
