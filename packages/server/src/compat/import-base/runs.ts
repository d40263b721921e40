import { Priority, type WorkflowKind } from '@scanfarm/contracts'
import type { BaseDatabase, BaseRow, History, PastRun, PastStep } from '@scanfarm/store'
import {
  hashResolved,
  resolveWorkflow,
  stringifyResolved,
  type ResolvedWorkflow,
  type WorkflowLibrary,
} from '@scanfarm/language'
import { workspaceOf } from '../../submission/workspace-name.ts'
import { leaveOut, newPart, note, type PartReport } from './report.ts'
import { batches, countOf, jobIdFrom, textOf, textsOf, timeOf, uuidFrom, uuidOf } from './values.ts'

const RUNS_AT_ONCE = 500
const STEPS_AT_ONCE = 500

/** `skipped` runs ended successfully; any other status means that the run has not ended. */
const STATUS: Readonly<Record<string, PastRun['status']>> = {
  completed: 'completed',
  skipped: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

const PRIORITIES: readonly string[] = Priority.enum
const isPriority = (text: string): text is Priority => PRIORITIES.includes(text)

/** The workspace of an imported record, with a valid name. */
export const workspaceHere = (row: BaseRow): string =>
  workspaceOf(textOf(row, 'workspace') || textOf(row, 'target') || 'default')

/** For runs whose workflow is no longer in the base folder: a copy of such a run fails with this reason. */
const lostWorkflow = (name: string, kind: WorkflowKind): ResolvedWorkflow => {
  const steps = [
    {
      name: 'imported',
      type: 'bash',
      command: "echo 'the workflow of this imported run is unknown: start a new run' >&2; exit 1",
    },
  ]
  return {
    format: 1,
    root: kind === 'flow' ? { kind, name, modules: [{ name: 'imported', steps }] } : { kind, name, steps },
    modules: {},
  }
}

/** Pins what a copy of a run would execute, once for each name and kind. */
const pinning = (library: WorkflowLibrary): ((name: string, kind: WorkflowKind) => PastRun['workflow']) => {
  const made = new Map<string, PastRun['workflow']>()
  return (name, kind) => {
    const known = made.get(`${kind} ${name}`)
    if (known !== undefined) return known
    let resolved: ResolvedWorkflow
    try {
      resolved = resolveWorkflow(library, { name, kind })
    } catch {
      resolved = lostWorkflow(name, kind)
    }
    const pinned = { hash: hashResolved(resolved), json: stringifyResolved(resolved) }
    made.set(`${kind} ${name}`, pinned)
    return pinned
  }
}

const runOf = (row: BaseRow, status: PastRun['status'], pin: ReturnType<typeof pinning>): PastRun => {
  const uuid = uuidOf('run', textOf(row, 'run_uuid'))
  const workflowName = textOf(row, 'workflow_name', 256)
  const workflowKind = textOf(row, 'workflow_kind') === 'flow' ? 'flow' : 'module'
  const createdAt = timeOf(row, 'created_at') ?? timeOf(row, 'started_at') ?? new Date(0).toISOString()
  const priority = textOf(row, 'run_priority')
  const totalSteps = countOf(row, 'total_steps')
  return {
    runUuid: uuid,
    jobId: jobIdFrom(`${textOf(row, 'run_group_id') || uuid} ${workflowKind} ${workflowName}`),
    workflowName,
    workflowKind,
    workflow: pin(workflowName, workflowKind),
    target: textOf(row, 'target', 2048),
    workspace: workspaceHere(row),
    params: textsOf(row, 'params'),
    priority: isPriority(priority) ? priority : 'normal',
    triggerName: textOf(row, 'trigger_name', 256),
    status,
    errorMessage: textOf(row, 'error_message', 8192),
    totalSteps,
    completedSteps: Math.min(countOf(row, 'completed_steps'), totalSteps),
    createdAt,
    startedAt: timeOf(row, 'started_at') ?? null,
    completedAt: timeOf(row, 'completed_at') ?? timeOf(row, 'updated_at') ?? createdAt,
  }
}

/** run_uuid of each imported run by its id in the base folder, which other tables refer to. */
export type RunNumbers = Map<number, string>

export const importRuns = async (
  base: BaseDatabase,
  library: WorkflowLibrary,
  history: History,
  dryRun: boolean,
): Promise<{ report: PartReport; numbers: RunNumbers }> => {
  const report = newPart('runs')
  const numbers: RunNumbers = new Map()
  const pin = pinning(library)
  for await (const batch of batches(base.rows('runs', ['id']), RUNS_AT_ONCE)) {
    const runs: PastRun[] = []
    for (const row of batch) {
      const word = textOf(row, 'status')
      // Rows with the status `webhook` are templates, not runs.
      if (word === 'webhook') continue
      report.found += 1
      const status = STATUS[word]
      if (status === undefined) {
        const what = `run ${textOf(row, 'run_uuid')} of ${textOf(row, 'workflow_name')} is ${word || 'without status'}`
        leaveOut(report, `${what}: import again after it has ended`)
        continue
      }
      const run = runOf(row, status, pin)
      runs.push(run)
      numbers.set(Number(row['id']), run.runUuid)
    }
    const known = await history.knownRuns(runs.map(({ runUuid }) => runUuid))
    const added = dryRun ? runs.length - known.size : await history.addRuns(runs)
    report.added += added
    report.known += runs.length - added
  }
  return { report, numbers }
}

/** Osmedeus stores only ended steps, with the status `success`. */
const STEP_STATUS: Readonly<Record<string, PastStep['status']>> = {
  success: 'completed',
  completed: 'completed',
  failed: 'failed',
  skipped: 'skipped',
}

export const importSteps = async (
  base: BaseDatabase,
  numbers: RunNumbers,
  history: History,
  dryRun: boolean,
): Promise<PartReport> => {
  const report = newPart('steps')
  let lastRun = ''
  let seq = 0
  const rows = base.rows('step_results', ['run_id', 'started_at', 'created_at', 'id'])
  for await (const batch of batches(rows, STEPS_AT_ONCE)) {
    const steps: (PastStep & { runUuid: string })[] = []
    for (const row of batch) {
      report.found += 1
      const runUuid = numbers.get(Number(row['run_id']))
      if (runUuid === undefined) {
        report.left_out += 1
        continue
      }
      seq = runUuid === lastRun ? seq + 1 : 1
      lastRun = runUuid
      steps.push({
        runUuid,
        seq,
        id: uuidFrom('step', runUuid, textOf(row, 'id')),
        name: textOf(row, 'step_name', 1024),
        type: textOf(row, 'step_type', 64),
        status: STEP_STATUS[textOf(row, 'status')] ?? 'cancelled',
        command: textOf(row, 'command'),
        output: textOf(row, 'output'),
        errorMessage: textOf(row, 'error_message', 8192),
        exports: textsOf(row, 'exports'),
        durationMs: countOf(row, 'duration_ms'),
        startedAt: timeOf(row, 'started_at') ?? null,
        completedAt: timeOf(row, 'completed_at') ?? null,
      })
    }
    const added = dryRun ? steps.length : await history.addSteps(steps)
    report.added += added
    report.known += steps.length - added
  }
  if (report.left_out > 0) note(report, 'steps of runs that were left out are left out too')
  return report
}
