import type { Runner, RunnerSpec } from '@scanfarm/contracts'
import {
  Engine,
  execute,
  parseResolved,
  runnerOf,
  scopeParams,
  type ResolvedWorkflow,
} from '@scanfarm/workflow'
import { DEFAULT_PATH, environmentOf } from './environment.ts'
import { findingsService } from './findings-service.ts'
import type { WorkFolders } from './folders.ts'
import type { ExecutorLimits } from './limits.ts'
import type { ExecutorOptions } from './options.ts'
import { backOff, reasonOf, type Backoff } from './retry.ts'
import type { Session, Verdict } from './session.ts'
import { fetchTarget } from './target-file.ts'
import { pacedRunner } from './paced-runner.ts'
import { sharedUser } from './users/command-users.ts'
import { WorkflowCache } from './workflow-cache.ts'
import { markedUsers } from './workspaces/marked-users.ts'
import { WorkspaceUses } from './workspaces/workspace-uses.ts'

export interface Performer extends AsyncDisposable {
  /** Does the work of one run. Never rejects: a bug is a failed run too. */
  perform(session: Session): Promise<Verdict>
}

/** Tries to read a pinned workflow, which the claim has just shown to exist. */
const WORKFLOW_TRIES = 5

export function createPerformer(
  options: ExecutorOptions,
  workFolders: WorkFolders,
  limits: ExecutorLimits,
  retry: Backoff,
): Performer {
  const workflows = new WorkflowCache<ResolvedWorkflow>(limits.cachedWorkflows, async (hash) =>
    parseResolved(await options.store.workflow(hash)),
  )
  const engine = new Engine(
    options.expressionMs === undefined ? {} : { limits: { timeMs: options.expressionMs } },
  )
  let uses: WorkspaceUses | undefined
  const users = markedUsers(
    options.users ?? sharedUser(undefined),
    () => (uses ??= new WorkspaceUses(workFolders.base)),
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
        session.lease = await users.acquire(session.folders.workspace, session.signal)
        workFolders.make(session.folders, session.run.workspace, session.lease.owner)
        return await perform(session, workflow, { engine, workFolders, options })
      } catch (error) {
        if (session.signal.aborted) return CANCELLED
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

interface Surroundings {
  readonly engine: Engine
  readonly workFolders: WorkFolders
  readonly options: ExecutorOptions
}

const CANCELLED: Verdict = { status: 'cancelled', errorMessage: '' }

const perform = async (
  session: Session,
  workflow: ResolvedWorkflow,
  { engine, workFolders, options }: Surroundings,
): Promise<Verdict> => {
  const { folders, journal, signal } = session
  const file = await fetchTarget(session, options.artifacts)
  const run = file === undefined ? session.run : { ...session.run, target: file }
  const { given } = options
  const result = await execute({
    workflow,
    target: run.target,
    ...(file !== undefined && { localTarget: 'file' as const }),
    params: run.params,
    strictParams: options.strictParams ?? false,
    workspace: run.workspace,
    runUuid: run.runUuid,
    runId: run.runId,
    attempt: run.attempt,
    folders: { base: workFolders.base, ...given?.folders, output: folders.workspace, temp: folders.attempt },
    env: environmentOf(run, folders, options.path ?? DEFAULT_PATH, {
      home: options.homes?.of(folders.workspace),
      given: given?.env,
    }),
    variables: given?.variables ?? {},
    secrets: given?.secrets ?? [],
    openRunner: (spec) => openRunner(session, spec, options),
    onPlace: (module, place) => {
      const declared = run.runner?.type ?? runnerOf(workflow)
      if (place.type !== 'host' || declared !== 'host') journal.facts(placeFacts(module, place))
    },
    askedRunner: run.runner,
    recorder: journal,
    engine,
    signal,
    eventEnvelope: run.eventEnvelope,
    services: {
      ...options.services,
      database: findingsService(options.store, session.key, scopeParams(workflow, run.params)),
    },
    ...(options.allowedPaths !== undefined && { paths: options.allowedPaths }),
    ...(session.lease?.owner !== undefined && { owner: session.lease.owner }),
    ...(options.graceMs !== undefined && { limits: { graceMs: options.graceMs } }),
  })
  session.killedPids.push(...result.killedPids)
  return { status: result.status, errorMessage: result.errorMessage }
}

/** Where the commands of a flow's module run, for the record: a flow may use several places. */
const placeFacts = (
  module: string,
  { type, facts }: Pick<Runner, 'type' | 'facts'>,
): Record<string, string> => {
  if (module === '') return {}
  const { image, image_digest: digest, host } = facts
  const what = image === undefined ? host : digest === undefined ? image : `${image} (${digest})`
  return { [`runner of ${module}`]: what === undefined ? type : `${type} ${what}` }
}

const openRunner = async (
  session: Session,
  spec: RunnerSpec,
  { runners, homes }: ExecutorOptions,
): Promise<Runner> => {
  const { run, folders, journal, signal } = session
  const home = homes?.own(folders.workspace)
  const runner = await runners.open(spec, {
    runUuid: run.runUuid,
    attempt: run.attempt,
    folder: folders.attempt,
    workspace: folders.workspace,
    ...(home !== undefined && { home }),
    owner: session.lease?.owner,
    marker: `${run.runUuid}.${run.attempt}`,
    signal,
    log: (line) => journal.log('info', line),
  })
  journal.facts(runner.facts)
  return pacedRunner(runner, () => journal.room())
}
