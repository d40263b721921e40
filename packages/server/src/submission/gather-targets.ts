import { setImmediate } from 'node:timers/promises'
import type { ArtifactStore, CreateRuns } from '@scanfarm/contracts'
import type { TargetDraft, TargetStream } from '@scanfarm/store'
import { chunksOf } from './chunks.ts'
import { linesOf, type Lines } from './lines.ts'
import { openTargetFile } from './target-file.ts'
import { TargetList, type ListedTargets } from './target-list.ts'
import { refuseLostUploads } from './target-uploads.ts'
import { workspaceOf } from './workspace-name.ts'

/** Longer files are read a second time, for the store, instead of being held in memory. */
const MAX_HELD = 100_000

export interface Gathered extends ListedTargets {
  /** For the store. */
  readonly drafts: readonly TargetDraft[] | TargetStream
}

interface Limits {
  readonly folders: readonly string[]
  readonly maxTargets: number
}

/** The targets that a request names, checked, in their order, each once. */
export async function gatherTargets(
  body: CreateRuns,
  artifacts: Pick<ArtifactStore, 'get' | 'size'>,
  limits: Limits,
): Promise<Gathered> {
  const draftOf = (target: string): TargetDraft => ({
    target,
    workspace: body.workspace ?? workspaceOf(target),
  })
  if (body.target_file === undefined) {
    await refuseLostUploads(body, artifacts)
    const listed = await listOf(body, limits.maxTargets)
    return { ...listed, drafts: (listed.targets ?? []).map(draftOf) }
  }
  const path = body.target_file
  const lines = async function* (): AsyncGenerator<Lines> {
    yield* linesOf(await openTargetFile(path, artifacts, limits.folders))
  }
  const listed = await listOfFile(lines(), limits.maxTargets)
  const { targets, count } = listed
  if (targets !== undefined) return { ...listed, drafts: targets.map(draftOf) }
  return { ...listed, drafts: { count, chunks: () => chunksOf(lines(), count, draftOf) } }
}

/** Other requests get their turn after so many targets. */
const TURN = 10_000

const listOf = async ({ target, targets }: CreateRuns, maxTargets: number): Promise<ListedTargets> => {
  const list = new TargetList({ maxTargets, maxHeld: Infinity })
  if (target !== undefined) list.add(target, () => ({ path: '/target', prefix: '' }))
  for (const [index, one] of (targets ?? []).entries()) {
    list.add(one, () => ({ path: `/targets/${index}`, prefix: '' }))
    if (index % TURN === TURN - 1) await setImmediate()
  }
  return list.finish(target === undefined ? 'targets' : 'target')
}

const listOfFile = async (lines: AsyncIterable<Lines>, maxTargets: number): Promise<ListedTargets> => {
  const list = new TargetList({ maxTargets, maxHeld: MAX_HELD })
  for await (const { first, texts } of lines) {
    for (const [index, text] of texts.entries())
      list.add(text, () => ({ path: '/target_file', prefix: `line ${first + index}: ` }))
    if (list.hopeless) break
  }
  return list.finish('target_file')
}
