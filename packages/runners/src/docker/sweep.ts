import type Docker from 'dockerode'
import { LABEL_ATTEMPT, LABEL_OWNER, LABEL_RUN } from './container-plan.ts'
import { answer, statusOf } from './engine.ts'

/** Whether this attempt of this run is still being executed by someone. */
export type IsLive = (attempt: {
  readonly runUuid: string
  readonly attempt: number
}) => boolean | Promise<boolean>

/** Containers normally go with the program that made them; this finds those that an engine's crash or a frozen program left. */
export async function sweepContainers(docker: Docker, owner: string, isLive: IsLive): Promise<number> {
  const filters = { label: [`${LABEL_OWNER}=${owner}`] }
  let removed = 0
  for (const { Id: id, Labels: labels } of await answer(docker.listContainers({ all: true, filters }))) {
    const runUuid = labels[LABEL_RUN]
    if (runUuid === undefined) continue
    if (await isLive({ runUuid, attempt: Number(labels[LABEL_ATTEMPT]) })) continue
    if (await removeContainer(docker, id)) removed += 1
  }
  return removed
}

/** False when it went by itself meanwhile. */
async function removeContainer(docker: Docker, id: string): Promise<boolean> {
  try {
    await answer(docker.getContainer(id).remove({ force: true, v: true }))
    return true
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 409) return false
    throw error
  }
}
