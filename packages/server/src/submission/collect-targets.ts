import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import {
  AppError,
  targetProblem,
  uploadKeyOf,
  type ArtifactStore,
  type CreateRuns,
  type FieldError,
  type Warnings,
} from '@scanfarm/contracts'
import type { TargetDraft, TargetStream } from '@scanfarm/store'
import { targetMismatch } from '@scanfarm/engine'
import { needsTarget, type ResolvedWorkflow } from '@scanfarm/language'
import type { Pinned } from '../catalog/catalog.ts'
import { problemAt, refuse } from '../http/refusal.ts'
import type { Refusing } from './scopes.ts'
import { SeenHashes } from './seen-hashes.ts'
import { linesOf, openTargetFile, type Lines } from './target-file.ts'
import { TargetList, targetOf, type ListedTargets, type ListLimits } from './target-list.ts'
import { workspaceFor, workspaceOf } from './workspace-name.ts'

/** Longer files are read a second time for the store instead of being held in memory. */
const MAX_IN_MEMORY = 100_000

export interface Collected extends ListedTargets {
  /** For the store. */
  readonly drafts: readonly TargetDraft[] | TargetStream
}

interface Limits {
  readonly folders: readonly string[]
  readonly maxTargets: number
  readonly refusal: Refusing | undefined
}

/** The distinct targets of a request, checked and in order. */
export async function collectTargets(
  body: CreateRuns,
  artifacts: Pick<ArtifactStore, 'get' | 'size'>,
  limits: Limits,
): Promise<Collected> {
  const { skip_bad: skipBad = false } = body
  const draftOf = (target: string): TargetDraft => ({
    target,
    workspace: body.workspace ?? workspaceOf(target),
  })
  const { refusal: refuses } = limits
  const refusal =
    refuses && ((target: string): string | undefined => refuses(target, () => draftOf(target).workspace))
  if (body.target_file === undefined) {
    await refuseLostUploads(body, artifacts)
    const listed = await listOf(body, {
      maxTargets: limits.maxTargets,
      maxInMemory: Infinity,
      skipBad,
      refusal,
    })
    return { ...listed, drafts: (listed.targets ?? []).map(draftOf) }
  }
  const path = body.target_file
  const lines = async function* (): AsyncGenerator<Lines> {
    yield* linesOf(await openTargetFile(path, artifacts, limits.folders))
  }
  const listed = await listOfFile(lines(), {
    maxTargets: limits.maxTargets,
    maxInMemory: MAX_IN_MEMORY,
    skipBad,
    refusal,
  })
  const { targets, count } = listed
  if (targets !== undefined) return { ...listed, drafts: targets.map(draftOf) }
  return {
    ...listed,
    drafts: { count, chunks: () => chunksOf(lines(), count, draftOf, { skipBad, refusal }) },
  }
}

/** Targets processed before other requests get a turn. */
const TURN = 10_000

const listOf = async ({ target, targets = [] }: CreateRuns, limits: ListLimits): Promise<ListedTargets> => {
  const list = new TargetList(limits)
  if (target !== undefined) list.add(target, () => ({ path: '/target', prefix: '' }))
  for (const [index, one] of targets.entries()) {
    list.add(one, () => ({
      path: `/targets/${index}`,
      prefix: targets.length === 1 ? '' : `target ${index + 1}: `,
    }))
    if (index % TURN === TURN - 1) await setImmediate()
  }
  return list.finish(target === undefined ? 'targets' : 'target')
}

const listOfFile = async (lines: AsyncIterable<Lines>, limits: ListLimits): Promise<ListedTargets> => {
  const list = new TargetList(limits)
  for await (const { first, texts } of lines) {
    for (const [index, text] of texts.entries())
      list.add(text, () => ({ path: '/target_file', prefix: `line ${first + index}: ` }))
    if (list.isRefused) break
  }
  return list.finish('target_file')
}

const CHUNK = 10_000

/** Reads the lines of a checked list again, for the store. Throws `conflict` if the number of targets has changed. */
export async function* chunksOf(
  lines: AsyncIterable<Lines>,
  count: number,
  draftOf: (target: string) => TargetDraft,
  { skipBad = false, refusal }: Pick<ListLimits, 'skipBad' | 'refusal'>,
): AsyncGenerator<readonly TargetDraft[]> {
  const seen = new SeenHashes()
  let read = 0
  let chunk: TargetDraft[] = []
  for await (const { texts } of lines) {
    for (const text of texts) {
      const target = targetOf(text)
      if (target === undefined || (skipBad && targetProblem(target) !== undefined)) continue
      if (refusal?.(target) !== undefined || !seen.add(target)) continue
      read += 1
      if (chunk.push(draftOf(target)) < CHUNK) continue
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
  if (read !== count)
    throw new AppError('conflict', 'target_file changed while it was read: send the request again')
}

const MAX_PROBLEMS = 50

/** An upload can be a target. If it no longer exists, the run would fail later on a worker. */
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
      message: 'is not an existing upload; it may have expired: upload it again',
    })
    if (problems.length === MAX_PROBLEMS) break
  }
  refuse(problems)
}

const PLACEHOLDER_BYTES = 4

/**
 * The single run of a request without targets. If the workflow needs no target, it has none. If the workflow needs one
 * and `empty_target` is set, it gets a placeholder, because an empty target in a command could change the meaning of a
 * path. Undefined if the request has targets or must have them.
 */
export const withoutTarget = (
  body: CreateRuns,
  { resolved }: Pinned,
  { refusal }: Pick<Limits, 'refusal'>,
): { readonly collected: Collected; readonly warnings: Warnings } | undefined => {
  const { target, targets, target_file: file, empty_target: empty, workspace } = body
  const named = targets !== undefined || file !== undefined || (target ?? '').trim() !== ''
  if (named) return undefined
  const needed = needsTarget(resolved)
  if (needed && empty !== true) return undefined
  const name = needed ? `empty-${randomBytes(PLACEHOLDER_BYTES).toString('hex')}` : ''
  const draft = { target: name, workspace: workspace ?? workspaceFor(name, resolved.root.name) }
  // Its name is no host.
  const reason = refusal?.('', () => draft.workspace)
  return {
    collected:
      reason === undefined
        ? { count: 1, dropped: 0, targets: [name], drafts: [draft] }
        : {
            count: 0,
            dropped: 0,
            targets: [],
            drafts: [],
            refused: { count: 1, listed: [{ target: name, reason }] },
          },
    warnings: needed
      ? [
          {
            field: 'empty_target',
            message: `${resolved.root.name} uses its target, so ${name} is used as a placeholder`,
          },
        ]
      : [],
  }
}

/** Targets of a schedule that its workflow refuses: runs would fail. `given`: the fields of the request. */
export const targetTypeProblems = (
  resolved: ResolvedWorkflow,
  targets: readonly string[],
  given: { readonly target?: string | undefined; readonly targets?: readonly string[] | undefined },
): FieldError[] =>
  targets.flatMap((target) =>
    problemAt(pathOf(target, given), target === '' ? undefined : targetMismatch(resolved, target)),
  )

/** Duplicates are dropped, so the index in the request differs from the index among the targets. */
const pathOf = (target: string, given: Parameters<typeof targetTypeProblems>[2]): string => {
  const index = given.targets?.indexOf(target) ?? -1
  if (index >= 0) return `/targets/${index}`
  return given.target ? '/target' : '/targets'
}
