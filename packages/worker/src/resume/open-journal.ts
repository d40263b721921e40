import { createHash } from 'node:crypto'
import { resumePrefix } from '@scanfarm/contracts'
import { Mask } from '@scanfarm/engine'
import type { ResolvedWorkflow } from '@scanfarm/language'
import { errorText } from '@scanfarm/platform'
import type { WorkingDirectory } from '../run/working-directory.ts'
import type { ExecutorLimits, ExecutorTimes } from '../slots/limits.ts'
import type { ExecutorOptions } from '../slots/options.ts'
import type { Session } from '../slots/session.ts'
import type { WorkspaceUses } from '../workspaces/workspace-uses.ts'
import { Contents } from './contents.ts'
import { Journal } from './journal.ts'
import { restore, type Restored } from './restore.ts'

export interface JournalContext {
  readonly options: ExecutorOptions
  readonly limits: ExecutorLimits
  readonly times: ExecutorTimes
  uses(): WorkspaceUses
}

/** Whether a part of the run can end before the run does. */
const hasParts = ({ root }: ResolvedWorkflow): boolean => {
  const { kind, steps = [], hooks } = root
  return kind === 'flow' || steps.length > 1 || steps[0]?.type === 'foreach' || hooks !== undefined
}

/** Everything that all steps of a run depend on besides files and earlier steps. */
const inputsOf = ({ run }: Session, { operatorInput: operator }: ExecutorOptions): string => {
  const params = Object.entries(run.params).sort(([one], [other]) => (one < other ? -1 : 1))
  const inputs = [run.workflowHash, run.target, params, run.runner, run.workspace, operator?.variables ?? {}]
  return createHash('sha256').update(JSON.stringify(inputs)).digest('hex')
}

/** Undefined: the run stores nothing for a later attempt. Takes over what an earlier one has stored. */
export const openJournal = async (
  session: Session,
  directory: WorkingDirectory,
  workflow: ResolvedWorkflow,
  { options, limits, times, uses }: JournalContext,
): Promise<Journal | undefined> => {
  const { run, folders, recorder, signal } = session
  const resumes = run.resumes ?? workflow.root.resume
  if (limits.resumeBytes === 0 || resumes === 'none' || !hasParts(workflow)) {
    if (typeof run.resume?.from === 'object') recorder.beginsAt('the start: the run is not resumable')
    return undefined
  }
  const secrets = options.operatorInput?.secrets ?? []
  const { artifacts } = options
  const open = () =>
    new Contents({
      artifacts,
      prefix: resumePrefix(run),
      mask: new Mask([...secrets, folders.attempt]),
      maxBytes: limits.resumeBytes,
    })
  let contents = open()
  const inputs = inputsOf(session, options)
  let restored: Restored | undefined
  if (run.resume !== undefined && run.resume !== null)
    try {
      restored = await restore({
        artifacts,
        contents,
        folders,
        inputs,
        point: run.resume,
        runUuid: run.runUuid,
        signal,
        openDirectory: () => directory.open(),
      })
    } catch (error) {
      if (signal.aborted) return undefined
      recorder.beginsAt(`the start: ${errorText(error)}`)
      contents = open()
    }
  return new Journal({
    run,
    folders,
    artifacts,
    contents,
    recorder,
    secrets: new Mask(secrets),
    inputs,
    everyMs: times.resumeMs,
    share: limits.resumeShare,
    isShared: () => uses().isShared(folders.workspace, run.runUuid),
    restored,
  })
}
