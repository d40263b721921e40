import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArtifactFound, RunRecorder } from '@scanfarm/contracts'
import { messageOf, workflowText } from '@scanfarm/language'
import { Folder, unless } from '@scanfarm/paths'
import { hasHooks, textsOf, workflowOf } from './modules-of.ts'
import type { ExecuteInput } from '../input.ts'
import type { Run } from './run.ts'

const STATE = 'run-state.json'
const COMPLETED = 'run-completed.json'
/** Maximum number of artifacts listed in the state file. More are only counted. */
const MAX_NAMED = 1_000
const MAX_PARAM = 4_096
const MAX_LOG_BYTES = 16 << 20

/** Files of a run by the variables that name them. */
export const STATE_FILES = {
  StateExecutionLog: 'run-execution.log',
  StateConsoleLog: 'run-console.log',
  StateWorkflowFile: 'run-workflow.yaml',
  StateFile: STATE,
  StateCompletedFile: COMPLETED,
} as const
type StateFile = keyof typeof STATE_FILES

/**
 * Only runs of workflows with reports, or that name such a file, write state files, so that a run of one quick command
 * does not cost more files.
 */
export const keepsState = ({ workflow, dryRun }: ExecuteInput): boolean => {
  const { root } = workflow
  const modules = (root.modules ?? []).map((ref) => workflowOf(workflow, ref))
  const hasReports = [root, ...modules].some((one) => (one?.reports ?? []).length > 0)
  const isNamed = Object.keys(STATE_FILES).some((name) => textsOf(workflow).includes(name))
  return dryRun !== true && (hasReports || isNamed)
}

/** A log in the folder of the run. Its end is cut off. */
class LogFile {
  readonly #file: FileHandle
  #left = MAX_LOG_BYTES

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Written at once, so that the next command can read it. A full disk does not fail the run. */
  write(bytes: Uint8Array): void {
    try {
      this.#left -= writeSync(this.#file.fd, bytes.subarray(0, this.#left))
    } catch {
      this.#left = 0
    }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
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
  #executionLog: LogFile | undefined
  #consoleLog: LogFile | undefined

  constructor(inner: RunRecorder) {
    this.recorder = {
      plan: (total) => {
        this.#total = total
        inner.plan(total)
      },
      stepOpened: (step) => inner.stepOpened(step),
      output: (key, stream, chunk) => {
        this.#consoleLog?.write(chunk)
        return inner.output(key, stream, chunk)
      },
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
      log: (level, line) => {
        const time = new Date().toISOString()
        this.#executionLog?.write(Buffer.from(`${time} ${level.toUpperCase()} ${line}\n`))
        inner.log(level, line)
      },
    }
  }

  /** Best effort, like `complete`. */
  async begin(run: Run): Promise<void> {
    const { folders, recorder, workflow } = run.input
    const isUsed = (name: StateFile): boolean => textsOf(workflow).includes(name)
    try {
      using output = Folder.at(folders.output)
      await output.unlink(COMPLETED).catch(unless(['ENOENT'], () => {}))
      if (isUsed('StateWorkflowFile'))
        await (await newFile(run, STATE_FILES.StateWorkflowFile, workflowText(workflow.root))).close()
      if (isUsed('StateExecutionLog'))
        this.#executionLog = new LogFile(await newFile(run, STATE_FILES.StateExecutionLog, ''))
      if (isUsed('StateConsoleLog'))
        this.#consoleLog = new LogFile(await newFile(run, STATE_FILES.StateConsoleLog, ''))
    } catch (error) {
      recorder.log('warn', `the files of the run could not be written: ${messageOf(error)}`)
    }
  }

  async close(): Promise<void> {
    const logs = [this.#executionLog, this.#consoleLog]
    this.#executionLog = this.#consoleLog = undefined
    for (const log of logs) await log?.close()
  }

  /** Best effort: errors do not fail the run. */
  async complete(run: Run, startedAt: Date): Promise<void> {
    const { folders, recorder } = run.input
    const text = run.mask.text(`${JSON.stringify(this.#state(run, startedAt), null, 2)}\n`)
    try {
      for (const name of [STATE, COMPLETED]) await (await newFile(run, name, text)).close()
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
        completed_steps: this.#completed + run.stepsTakenOver,
        hooks_enabled: hasHooks(workflow),
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

/** Replaces a link that a command may have placed. Resolves to the open file. */
const newFile = async ({ input }: Run, name: string, text: string): Promise<FileHandle> => {
  using output = Folder.at(input.folders.output)
  return await output.openNew(name, async (file) => await file.writeFile(text), { owner: input.owner })
}
