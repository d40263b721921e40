import {
  AppError,
  uploadKeyOf,
  type ArtifactStore,
  type CreateRuns,
  type FieldError,
} from '@scanfarm/contracts'

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
  for (const { text, path } of named) {
    const key = uploadKeyOf(text.trim())
    if (key === undefined || (await artifacts.size(key)) !== undefined) continue
    problems.push({
      path,
      message: 'names no upload; it may have been removed after its time: upload it again',
    })
    if (problems.length === MAX_PROBLEMS) break
  }
  const [first] = problems
  if (first !== undefined)
    throw new AppError('invalid_input', `${first.path.slice(1)}: ${first.message}`, { details: problems })
}
