import { opendir, stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { collectArtifact } from '@scanfarm/artifacts'
import { ArtifactType, type ArtifactStore } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { BaseDatabase, BaseRow, History, PastArtifact } from '@scanfarm/store'
import { hashResolved, stringifyResolved } from '@scanfarm/language'
import { workspaceOf } from '../../submission/workspace-name.ts'
import type { BaseLayout } from './layout.ts'
import { leaveOut, newPart, note, type PartReport } from './report.ts'
import { jobIdFrom, textOf, uuidFrom } from './values.ts'

const FILES_AT_ONCE = 100
const TYPES: readonly string[] = ArtifactType.enum
const isType = (text: string): text is ArtifactType => TYPES.includes(text)

/** State files that Osmedeus writes to the workspace of each run. */
const STATE_FILES = new Set([
  'run-execution.log',
  'run-console.log',
  'run-completed.json',
  'run-state.json',
  'run-workflow.yaml',
])

interface Known {
  readonly name: string
  readonly type: string
  readonly description: string
}

/** Artifact descriptions from the database, by workspace and path in its folder. */
const describedArtifacts = async (
  base: BaseDatabase | undefined,
  { workspaces }: BaseLayout,
): Promise<Map<string, Known>> => {
  const known = new Map<string, Known>()
  const pathOf = (row: BaseRow): string => {
    const workspace = textOf(row, 'workspace')
    const path = textOf(row, 'artifact_path')
    const folder = join(workspaces, workspace)
    if (!isAbsolute(path)) return `${workspace}/${path}`
    const inside = relative(folder, path)
    // The folder may have been moved since.
    return `${workspace}/${inside.startsWith('..') ? (path.split(`/${workspace}/`).at(-1) ?? path) : inside}`
  }
  for await (const row of base?.rows('artifacts', ['created_at']) ?? [])
    known.set(pathOf(row), {
      name: textOf(row, 'name', 1024),
      type: textOf(row, 'artifact_type'),
      description: textOf(row, 'description', 2048),
    })
  return known
}

interface Found {
  readonly path: string
  /** Why the file cannot be imported. */
  readonly problem?: string
}

const LINK = 'it is a symbolic link'
const SPECIAL = 'it is neither a regular file nor a folder'

async function* filesBelow(folder: string): AsyncGenerator<Found> {
  const entries = await opendir(folder).catch((error: unknown) => errorText(error))
  if (typeof entries === 'string') {
    yield { path: folder, problem: entries }
    return
  }
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile()) yield { path }
    else yield { path, problem: entry.isSymbolicLink() ? LINK : SPECIAL }
  }
}

interface Batch {
  readonly path: string
  readonly id: string
}

/** Creates the run that owns the files of a workspace without runs. */
const keeperOf = async (history: History, workspace: string, folder: string): Promise<string> => {
  const runUuid = uuidFrom('workspace', workspace)
  const at = (await stat(folder)).mtime.toISOString()
  const resolved = {
    format: 1 as const,
    root: { kind: 'module' as const, name: 'import-base', steps: [] },
    modules: {},
  }
  await history.addRuns([
    {
      runUuid,
      jobId: jobIdFrom(runUuid),
      workflowName: 'import-base',
      workflowKind: 'module',
      workflow: { hash: hashResolved(resolved), json: stringifyResolved(resolved) },
      target: workspace,
      workspace,
      params: {},
      priority: 'normal',
      triggerName: '',
      status: 'completed',
      errorMessage: '',
      totalSteps: 0,
      completedSteps: 0,
      createdAt: at,
      startedAt: at,
      completedAt: at,
    },
  ])
  return runUuid
}

export interface FilesTo {
  readonly history: History
  readonly artifacts: ArtifactStore
  readonly maxBytes: number
  readonly dryRun: boolean
}

/** Imports every file of the workspaces as an artifact of the newest imported run of its workspace. */
export const importFiles = async (
  layout: BaseLayout,
  base: BaseDatabase | undefined,
  to: FilesTo,
): Promise<PartReport> => {
  const report = newPart('files')
  const described = await describedArtifacts(base, layout).catch((error: unknown) => {
    note(report, `names and types from the database are missing: ${errorText(error)}`)
    return new Map<string, Known>()
  })
  const folders = await opendir(layout.workspaces).catch(() => undefined)
  if (folders === undefined) {
    note(report, `${layout.workspaces} does not exist: set the folder with --workspaces`)
    return report
  }
  for await (const entry of folders) {
    if (entry.name.startsWith('.')) continue
    if (!entry.isDirectory()) {
      report.found += 1
      const why = entry.isSymbolicLink() ? `${LINK}: set the folder above its target with --workspaces` : ''
      leaveOut(report, `${entry.name}: ${why || 'it is not in a workspace'}`)
      continue
    }
    await importWorkspace(join(layout.workspaces, entry.name), entry.name, described, to, report)
  }
  return report
}

const importWorkspace = async (
  folder: string,
  name: string,
  described: ReadonlyMap<string, Known>,
  to: FilesTo,
  report: PartReport,
): Promise<void> => {
  const workspace = workspaceOf(name)
  let runUuid: string | undefined
  const flush = async (batch: readonly Batch[]): Promise<void> => {
    if (batch.length === 0) return
    const known = await to.history.knownArtifacts(
      workspace,
      batch.map(({ id }) => id),
    )
    report.known += known.size
    const fresh = batch.filter(({ id }) => !known.has(id))
    if (to.dryRun) {
      report.added += fresh.length
      return
    }
    if (fresh.length === 0) return
    runUuid ??= (await to.history.newestRun(workspace)) ?? (await keeperOf(to.history, workspace, folder))
    const artifacts: PastArtifact[] = []
    for (const file of fresh) {
      const path = relative(folder, file.path)
      const kept = await keep(file, path, folder, runUuid, described.get(`${name}/${path}`), to)
      if (typeof kept === 'string') leaveOut(report, `${name}/${path}: ${kept}`)
      else artifacts.push(kept)
    }
    report.added += await to.history.addArtifacts(runUuid, artifacts)
  }
  let batch: Batch[] = []
  for await (const { path, problem } of filesBelow(folder)) {
    report.found += 1
    const facts = problem === undefined ? await stat(path).catch(() => undefined) : undefined
    if (facts === undefined) {
      const why = problem ?? 'it was deleted, or its name is not UTF-8'
      leaveOut(report, `${join(name, relative(folder, path))}: ${why}`)
      continue
    }
    const { size, mtimeMs } = facts
    batch.push({ path, id: uuidFrom('file', workspace, relative(folder, path), size, Math.trunc(mtimeMs)) })
    if (batch.length < FILES_AT_ONCE) continue
    await flush(batch)
    batch = []
  }
  await flush(batch)
}

const keep = async (
  { path: file, id }: Batch,
  path: string,
  folder: string,
  runUuid: string,
  known: Known | undefined,
  { artifacts, maxBytes }: FilesTo,
): Promise<PastArtifact | string> => {
  const kept = await collectArtifact(artifacts, {
    path: file,
    roots: [folder],
    keyPrefix: `runs/${runUuid}/1/artifacts/${id}`,
    contentType: undefined,
    maxBytes,
  })
  if (kept.kind === 'refused') return kept.reason
  const type = known?.type ?? (STATE_FILES.has(path) ? 'state_file' : kept.likelyType)
  return {
    id,
    name: known?.name || path.replace(/^.*\//, ''),
    artifact_path: path,
    artifact_type: isType(type) ? type : kept.likelyType,
    content_type: kept.contentType,
    size_bytes: kept.sizeBytes,
    line_count: kept.lineCount,
    description: known?.description ?? '',
    storeKey: kept.storeKey,
    sha256: kept.sha256,
  }
}
