import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArtifactFound, RunRecorder } from '@scanfarm/contracts'
import { messageOf } from '@scanfarm/language'
import { workflowOf } from './flow.ts'
import type { ExecuteInput } from '../input.ts'
import type { Run } from './run.ts'

const STATE = 'run-state.json'
const COMPLETED = 'run-completed.json'
/** Maximum number of artifacts listed in the state file. More are only counted. */
const MAX_NAMED = 1_000
const MAX_PARAM = 4_096

/** Only runs with reports write state files, so that a run of one quick command does not cost two more files. */
export const keepsState = ({ workflow, dryRun }: ExecuteInput): boolean => {
  const { root } = workflow
  const modules = (root.modules ?? []).map((ref) => workflowOf(workflow, ref))
  return dryRun !== true && [root, ...modules].some((one) => (one?.reports ?? []).length > 0)
}

/**
 * Files that tell other programs that a run is complete. `run-completed.json` is deleted when a run starts, and written
 * together with `run-state.json` when it completes.
 */
export class StateFiles {
  readonly recorder: RunRecorder
  readonly #artifacts: ArtifactFound[] = []
  #found = 0
  #total = 0
  #completed = 0

  constructor(inner: RunRecorder) {
    this.recorder = {
      plan: (total) => {
        this.#total = total
        inner.plan(total)
      },
      stepOpened: (step) => inner.stepOpened(step),
      output: (key, stream, chunk) => inner.output(key, stream, chunk),
      stepClosed: (step, counts) => {
        if (counts) this.#completed += 1
        inner.stepClosed(step, counts)
      },
      tally: (tally) => inner.tally(tally),
      currentPid: (pid) => inner.currentPid(pid),
      artifact: (found) => {
        this.#found += 1
        if (this.#artifacts.length < MAX_NAMED) this.#artifacts.push(found)
        inner.artifact(found)
      },
      event: (event) => inner.event(event),
      log: (level, line) => inner.log(level, line),
    }
  }

  async begin({ folders }: ExecuteInput): Promise<void> {
    await rm(join(folders.output, COMPLETED), { force: true })
  }

  /** Best effort: errors do not fail the run. */
  async complete(run: Run, startedAt: Date): Promise<void> {
    const { folders, recorder } = run.input
    const text = run.mask.text(`${JSON.stringify(this.#state(run, startedAt), null, 2)}\n`)
    try {
      for (const name of [STATE, COMPLETED]) await putFile(run, name, text)
    } catch (error) {
      return recorder.log('warn', `the state of the run could not be written: ${messageOf(error)}`)
    }
    const path = join(folders.output, STATE)
    recorder.artifact({ name: 'run state', path, type: 'state_file', contentType: 'json', description: '' })
  }

  #state(run: Run, startedAt: Date): object {
    const { workflow, target, params, workspace, runUuid, folders } = run.input
    const { name, kind } = workflow.root
    const now = run.ports.now().toISOString()
    return {
      run: {
        run_uuid: runUuid,
        workflow_name: name,
        workflow_kind: kind,
        target,
        params: Object.fromEntries(
          Object.entries(params).map(([key, value]) => [key, run.recordable(value, MAX_PARAM)]),
        ),
        status: 'completed',
        workspace,
        started_at: startedAt.toISOString(),
        completed_at: now,
        error_message: '',
        total_steps: this.#total,
        completed_steps: this.#completed,
        hooks_enabled: true,
      },
      workspace: { name: workspace, local_path: folders.output },
      artifacts: this.#artifacts.map((found) => ({
        name: found.name,
        artifact_path: found.path,
        artifact_type: found.type,
        content_type: found.contentType ?? 'unknown',
      })),
      artifacts_total: this.#found,
      updated_at: now,
    }
  }
}

/** Written to a temporary file and renamed, because a command may have placed a link at the path. */
const putFile = async ({ input, ports }: Run, name: string, text: string): Promise<void> => {
  const path = join(input.folders.output, name)
  const scratch = `${path}.${ports.uuid()}.tmp`
  const file = await open(scratch, 'wx')
  try {
    if (input.owner !== undefined) await file.chown(input.owner.uid, input.owner.gid)
    await file.writeFile(text)
  } finally {
    await file.close()
  }
  await rename(scratch, path)
}
