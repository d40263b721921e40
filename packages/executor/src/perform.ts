import type { ClaimedRun, Runner, RunnerSpec } from '@scanfarm/contracts'
import { Engine, execute, parseResolved, type ResolvedWorkflow } from '@scanfarm/workflow'
import { DEFAULT_PATH, environmentOf } from './environment.ts'
import { makeRunFolders } from './folders.ts'
import type { ExecutorLimits } from './limits.ts'
import type { ExecutorOptions } from './options.ts'
import { backOff, reasonOf, type Backoff } from './retry.ts'
import type { Session, Verdict } from './session.ts'
import { pacedRunner } from './paced-runner.ts'
import { WorkflowCache } from './workflow-cache.ts'

export interface Performer extends AsyncDisposable {
  /** Does the work of one run. Never rejects: a bug is a failed run too. */
  perform(session: Session): Promise<Verdict>
}

/** Tries to read a pinned workflow, which the claim has just shown to exist. */
const WORKFLOW_TRIES = 5

export function createPerformer(options: ExecutorOptions, limits: ExecutorLimits, retry: Backoff): Performer {
  const workflows = new WorkflowCache<ResolvedWorkflow>(limits.cachedWorkflows, async (hash) =>
    parseResolved(await options.store.workflow(hash)),
  )
  const engine = new Engine(
    options.expressionMs === undefined ? {} : { limits: { timeMs: options.expressionMs } },
  )
  const workflowOf = async ({ run, signal }: Session): Promise<ResolvedWorkflow> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await workflows.get(run.workflowHash)
      } catch (error) {
        if (attempt === WORKFLOW_TRIES || signal.aborted)
          throw new Error(`the workflow of the run could not be read: ${reasonOf(error)}`, { cause: error })
        await backOff(attempt, retry, signal)
      }
    }
  }
  return {
    async perform(session) {
      if (session.signal.aborted) return CANCELLED
      try {
        const workflow = await workflowOf(session)
        makeRunFolders(session.folders, options.owner)
        return await perform(session, workflow, engine, options)
      } catch (error) {
        if (!isUnavailable(error))
          options.log.error('a run failed outside of its steps', { run_id: session.key.runId, error })
        return { status: 'failed', errorMessage: reasonOf(error) }
      }
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

const isUnavailable = (error: unknown): boolean =>
  Error.isError(error) && error.name === 'RunnerUnavailableError'

const CANCELLED: Verdict = { status: 'cancelled', errorMessage: '' }

const perform = async (
  session: Session,
  workflow: ResolvedWorkflow,
  engine: Engine,
  options: ExecutorOptions,
): Promise<Verdict> => {
  const { run, folders, journal, signal } = session
  const result = await execute({
    workflow,
    target: run.target,
    params: run.params,
    workspace: run.workspace,
    runUuid: run.runUuid,
    runId: run.runId,
    attempt: run.attempt,
    folders: { output: folders.workspace, temp: folders.attempt, base: options.folder },
    env: environmentOf(run, folders, options.path ?? DEFAULT_PATH),
    openRunner: (spec) => openRunner(session, spec, options),
    runnerOverride: overrideOf(run),
    recorder: journal,
    engine,
    signal,
    eventEnvelope: run.eventEnvelope,
    ...(options.graceMs !== undefined && { limits: { graceMs: options.graceMs } }),
  })
  session.killedPids.push(...result.killedPids)
  return { status: result.status, errorMessage: result.errorMessage }
}

const openRunner = async (
  session: Session,
  spec: RunnerSpec,
  { runners }: ExecutorOptions,
): Promise<Runner> => {
  const { run, folders, journal, signal } = session
  const runner = await runners.open(spec, {
    runUuid: run.runUuid,
    attempt: run.attempt,
    folder: folders.attempt,
    marker: `${run.runUuid}.${run.attempt}`,
    signal,
    log: (line) => journal.log('info', line),
  })
  journal.facts(runner.facts)
  return pacedRunner(runner, () => journal.room())
}

/** The runner that the caller asked for, as a specification; `null`: as the workflow says. */
const overrideOf = ({ runner }: ClaimedRun): RunnerSpec | null => {
  switch (runner?.type) {
    case undefined:
      return null
    case 'docker':
      return { type: 'docker', image: runner.dockerImage ?? '' }
    case 'ssh':
      return { type: 'ssh', ...sshAddress(runner.sshHost ?? '') }
    default:
      return { type: 'host' }
  }
}

/** Takes `user@host:port` apart; an IPv6 address with a port stands in brackets. */
const sshAddress = (text: string): { host: string; user?: string; port?: number } => {
  const match = /^(?:([^@]+)@)?(?:\[([^\]]+)\]|([^:]+)|(.*))(?::(\d+))?$/.exec(text)
  const host = match?.[2] ?? match?.[3] ?? match?.[4] ?? text
  const [user, port] = [match?.[1], match?.[5]]
  return { host, ...(user !== undefined && { user }), ...(port !== undefined && { port: Number(port) }) }
}
