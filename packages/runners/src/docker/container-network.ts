import type Docker from 'dockerode'
import type { CommandNetwork } from '@scanfarm/contracts'
import { fieldOf } from '../error-fields.ts'
import { type ContainerPlan, LABEL_ATTEMPT, LABEL_OWNER, LABEL_RUN } from './container-plan.ts'
import { answer } from './engine.ts'

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The addresses of a container, as the engine lists them. */
const addressesOf = (container: unknown): unknown[] =>
  Object.values(fieldOf(fieldOf(container, 'NetworkSettings'), 'Networks') ?? {}).map((network) =>
    fieldOf(network, 'IPAddress'),
  )

/** The network of the containers of a run, if it is a bridge on the machine of the engine. */
export const containerNetwork = async (
  docker: Docker,
  { spec, context, owner }: Pick<ContainerPlan, 'spec' | 'context' | 'owner'>,
): Promise<CommandNetwork | undefined> => {
  const found: unknown = await answer(docker.getNetwork(spec.network ?? 'bridge').inspect()).catch(
    () => undefined,
  )
  const gateway = list(fieldOf(fieldOf(found, 'IPAM'), 'Config'))
    .map((config) => fieldOf(config, 'Gateway'))
    .find((address) => typeof address === 'string' && address !== '')
  if (fieldOf(found, 'Driver') !== 'bridge' || typeof gateway !== 'string') return undefined
  const labels = { [LABEL_OWNER]: owner, [LABEL_RUN]: context.runUuid, [LABEL_ATTEMPT]: context.attempt }
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return {
    gateway,
    isOwn: async (address) =>
      list(await answer(docker.listContainers({ filters: { label } })))
        .flatMap(addressesOf)
        .includes(address),
  }
}
