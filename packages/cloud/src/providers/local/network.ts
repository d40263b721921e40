import type Docker from 'dockerode'
import { statusOf } from '@scanfarm/runners'

/** Of machines only; stays when they are gone. An engine may have no network of its own. */
const NETWORK = 'scanfarm-machines'

export interface MachineNetwork {
  readonly id: string
  /** Address at which machines reach the engine's host; undefined where the engine does not tell. */
  readonly gateway: string | undefined
}

/** The network that machines join, made when it is missing. */
export async function provideNetwork(docker: Docker): Promise<MachineNetwork> {
  try {
    const { Id: id, IPAM: plan } = await docker.getNetwork(NETWORK).inspect()
    return { id, gateway: plan?.Config?.[0]?.Gateway }
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
  // Somebody else may be as fast: one of the same name is as good.
  await docker
    .createNetwork({ Name: NETWORK, Driver: 'bridge', CheckDuplicate: true })
    .catch((error: unknown) => {
      if (statusOf(error) !== 409) throw error
    })
  return provideNetwork(docker)
}

/** Unless there are machines in it, or it is gone. */
export async function removeNetwork(docker: Docker): Promise<void> {
  await docker
    .getNetwork(NETWORK)
    .remove()
    .catch((error: unknown) => {
      if (statusOf(error) !== 404 && statusOf(error) !== 403) throw error
    })
}
