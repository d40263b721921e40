import type { ArtifactStore, CreateRuns } from '@scanfarm/contracts'
import { linesOf } from './lines.ts'
import { openTargetFile } from './target-file.ts'
import { TargetList } from './target-list.ts'

export interface Gathered {
  readonly targets: string[]
  readonly dropped: number
}

/** The targets that a request names, checked, in their order, each once. */
export async function gatherTargets(
  body: CreateRuns,
  artifacts: Pick<ArtifactStore, 'get'>,
  limits: { readonly folders: readonly string[]; readonly maxTargets: number },
): Promise<Gathered> {
  const list = new TargetList(limits.maxTargets)
  if (body.target !== undefined) {
    list.add(body.target, () => ({ path: '/target', prefix: '' }))
    return list.finish('target')
  }
  if (body.targets !== undefined) {
    for (const [index, target] of body.targets.entries())
      list.add(target, () => ({ path: `/targets/${index}`, prefix: '' }))
    return list.finish('targets')
  }
  const file = await openTargetFile(body.target_file ?? '', artifacts, limits.folders)
  for await (const { text, number } of linesOf(file)) {
    list.add(text, () => ({ path: '/target_file', prefix: `line ${number}: ` }))
    if (list.hopeless) break
  }
  return list.finish('target_file')
}
