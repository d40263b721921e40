import { AppError, type WorkflowGraph } from '@scanfarm/contracts'
import {
  workflowGraph,
  type FileOutline,
  type LocatedWorkflow,
  type Problem,
  type Workflow,
  type WorkflowEntry,
} from '@scanfarm/language'
import type { Pinned } from '../../catalog/catalog.ts'
import type { ServerContext } from '../../context.ts'
import { checkWorkflow } from './check-upload.ts'

type Parts = Pick<ServerContext, 'catalog' | 'checker'>

/** A workflow file with its source. */
export interface ReadEntry {
  readonly yaml: string
  readonly problems: readonly Problem[]
  readonly outline: FileOutline | undefined
}

// An entry is replaced when its file changes.
const known = new WeakMap<WorkflowEntry, Promise<ReadEntry>>()

export const readEntry = ({ catalog, checker }: Parts, entry: WorkflowEntry): Promise<ReadEntry> => {
  const before = known.get(entry)
  if (before !== undefined) return before
  const reading = (async () => {
    const yaml = await catalog.yaml(entry)
    const { outline } = await checkWorkflow(checker, entry.path, yaml, true)
    return { yaml, problems: entry.problems, outline }
  })()
  known.set(entry, reading)
  reading.catch(() => known.delete(entry))
  return reading
}

/** Most files that are read for the line numbers of one graph. */
const MAX_FILES = 200
const MAX_PARENTS = 20

/** The positions of the parts of a workflow, in its own file or in the parent that declares them. */
const positionsIn = async (
  parts: Parts,
  entry: WorkflowEntry,
  workflow: Workflow,
): Promise<LocatedWorkflow['positionOf']> => {
  const chain: { file: string; outline: FileOutline | undefined }[] = []
  const seen = new Set<WorkflowEntry>()
  for (
    let at: WorkflowEntry | undefined = entry;
    at !== undefined && !seen.has(at) && seen.size < MAX_PARENTS;
  ) {
    seen.add(at)
    const { outline } = await readEntry(parts, at)
    chain.push({ file: at.path, outline })
    at = outline === undefined ? undefined : parts.catalog.references(at, outline.workflow).parent
  }
  return (key) => {
    if (key === '') return { file: entry.path, line: 1 }
    const holder = chain.find(({ outline }) => outline?.lines[key] !== undefined)
    return { file: holder?.file ?? workflow.name, line: holder?.outline?.lines[key] ?? 0 }
  }
}

const pinnedOrNothing = async (
  catalog: Parts['catalog'],
  { name, kind }: WorkflowEntry,
): Promise<Pinned['resolved'] | undefined> => {
  try {
    return (await catalog.pin(name, kind)).resolved
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The graph of a stored workflow. One that cannot be started is drawn as far as it can be read. */
export const graphOf = async (
  parts: Parts,
  entry: WorkflowEntry,
): Promise<{ graph: WorkflowGraph; resolved: Pinned['resolved'] | undefined; read: ReadEntry }> => {
  const { catalog } = parts
  const read = await readEntry(parts, entry)
  const resolved = entry.workflow === undefined ? undefined : await pinnedOrNothing(catalog, entry)
  const root = resolved?.root ?? read.outline?.workflow
  if (root === undefined) return { graph: { nodes: [], edges: [], truncated: false }, resolved, read }
  const { modules } = catalog.references(entry, root)
  const placed = new Map<string, LocatedWorkflow>()
  for (const [name, module] of [...modules].slice(0, MAX_FILES)) {
    const workflow = resolved?.modules[name] ?? module.workflow
    if (workflow !== undefined)
      placed.set(name, { workflow, positionOf: await positionsIn(parts, module, workflow) })
  }
  const graph = workflowGraph({ workflow: root, positionOf: await positionsIn(parts, entry, root) }, placed)
  return { graph, resolved, read }
}

/** The graph of a file that is not stored; modules in other files are drawn without their parts. */
export const graphOfFile = (file: string, outline: FileOutline | undefined): WorkflowGraph =>
  outline === undefined
    ? { nodes: [], edges: [], truncated: false }
    : workflowGraph({
        workflow: outline.workflow,
        positionOf: (key) => ({ file, line: key === '' ? 1 : (outline.lines[key] ?? 0) }),
      })
