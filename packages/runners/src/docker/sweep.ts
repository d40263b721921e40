import type Docker from 'dockerode'
import { LABEL_ATTEMPT, LABEL_OWNER, LABEL_RUN } from './container-plan.ts'
import { answer, statusOf } from './engine.ts'

/** Whether a worker or server still executes this attempt of the run. */
export type IsLive = (attempt: {
  readonly runUuid: string
  readonly attempt: number
}) => boolean | Promise<boolean>

/** Removes the containers that outlived their program, because the engine crashed or the program froze. */
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

/** False if the container was removed meanwhile. */
async function removeContainer(docker: Docker, id: string): Promise<boolean> {
  try {
    await answer(docker.getContainer(id).remove({ force: true, v: true }))
    return true
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 409) return false
    throw error
  }
}
