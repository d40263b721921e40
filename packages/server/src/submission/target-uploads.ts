import { uploadKeyOf, type ArtifactStore, type CreateRuns, type FieldError } from '@scanfarm/contracts'
import { refuse } from '../http/field-refusal.ts'

const MAX_PROBLEMS = 50

/** An upload can be a target itself; one that is gone would only fail later, on a worker. */
export const refuseLostUploads = async (
  { target, targets = [] }: CreateRuns,
  artifacts: Pick<ArtifactStore, 'size'>,
): Promise<void> => {
  const problems: FieldError[] = []
  const named = [
    ...(target === undefined ? [] : [{ text: target, path: '/target' }]),
    ...targets.map((text, index) => ({ text, path: `/targets/${index}` })),
  ]
  const lost = new Map<string, boolean>()
  for (const { text, path } of named) {
    const key = uploadKeyOf(text.trim())
    if (key === undefined) continue
    if (!lost.has(key)) lost.set(key, (await artifacts.size(key)) === undefined)
    if (lost.get(key) !== true) continue
    problems.push({
      path,
      message: 'names no upload; it may have been removed after its time: upload it again',
    })
    if (problems.length === MAX_PROBLEMS) break
  }
  refuse(problems)
}
