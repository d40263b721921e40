import { TOOL, type ClaimedRun, type Runner, type RunnerSpec } from '@scanfarm/contracts'
import { errorText, retry } from '@scanfarm/platform'
import { Engine, execute, requirements, runnerOf } from '@scanfarm/engine'
import { boundVariables } from '@scanfarm/tools'
import { parseResolved, scopeParams, type ResolvedWorkflow } from '@scanfarm/language'
import { Boundaries } from './boundaries.ts'
import { DEFAULT_PATH, environmentOf } from './environment.ts'
import { findingsService } from './findings-service.ts'
import { isBatch, type WorkFolders } from '../workspaces/work-folders.ts'
import { openJournal, type JournalContext } from '../resume/open-journal.ts'
import type { SlotPool } from '../slots/slot-pool.ts'
import type { ExecutorOptions } from '../slots/options.ts'
import type { Session, Verdict } from '../slots/session.ts'
import { ProxyPorts } from '../proxy/ports.ts'
import { Guard } from './guard.ts'
import { guardedRunner } from './guarded-runner.ts'
import { PromiseCache } from './promise-cache.ts'
import { WorkingDirectory } from './working-directory.ts'
import { RunProxy } from './run-proxy.ts'
import { fetchTarget } from './target-file.ts'
import { openBatch } from '../spread/batch.ts'
import { Spread, type SpreadContext } from '../spread/spread.ts'
import { sharedUser } from '../users/command-users.ts'
import { markedUsers } from '../workspaces/marked-users.ts'
import { WorkspaceUses } from '../workspaces/workspace-uses.ts'

export interface Performer extends AsyncDisposable {
  /** Takes the shares of limits of a run that was claimed. */
  claimed(session: Session): void
  /** Executes one run. Never rejects: an unexpected error fails the run. */
  perform(session: Session): Promise<Verdict>
  /** The farm has reported this version of scopes and the never-scan list. */
  noteScopes(version: number): void
}

/** Attempts to read the pinned workflow of a run. */
const WORKFLOW_TRIES = 5

export function createPerformer(
  parts: Omit<PerformContext, 'engine' | 'boundaries' | 'ports' | 'uses'>,
): Performer {
  const { options, workFolders, limits, backoff } = parts
  const workflows = new PromiseCache<ResolvedWorkflow>(limits.cachedWorkflows)
  const read = async (hash: string): Promise<ResolvedWorkflow> =>
    parseResolved(await options.store.workflow(hash))
  let uses: WorkspaceUses | undefined
  const context: PerformContext = {
    ...parts,
    engine: new Engine(),
    boundaries: new Boundaries(options.store),
    ports: new ProxyPorts(),
    uses: () => (uses ??= new WorkspaceUses(workFolders.base)),
  }
  const own = options.users ?? sharedUser(undefined)
  const workflowOf = async ({ run, signal }: Session): Promise<ResolvedWorkflow> => {
    const shouldRetry = (_error: unknown, attempt: number): boolean => attempt < WORKFLOW_TRIES
    try {
      const pinned = () => workflows.get(run.workflowHash, () => read(run.workflowHash))
      return await retry(pinned, { backoff, signal, shouldRetry })
    } catch (error) {
      throw new Error(`the workflow of the run could not be read: ${errorText(error)}`, { cause: error })
    }
  }
  /** Of runs that were claimed. */
  const guards = new WeakMap<Session, Guard>()
  const guardOf = (session: Session): Guard => {
    const guard = guards.get(session) ?? new Guard(session, context.boundaries, options.onRefused)
    guards.set(session, guard)
    return guard
  }
  return {
    claimed: (session) => guardOf(session).claimed(),
    async perform(session) {
      if (session.signal.aborted) return CANCELLED
      try {
        const workflow = await workflowOf(session)
        const { folders, run, signal } = session
        const directory = new WorkingDirectory({
          folders,
          workspace: run.workspace,
          // Each batch has separate folders.
          users: isBatch(run) ? own : markedUsers(own, context.uses, run.runUuid),
          workFolders,
          signal,
        })
        session.directory = directory
        try {
          return await perform(session, guardOf(session), directory, workflow, context)
        } finally {
          if (directory.owner !== undefined)
            await options.enforcement?.firewall?.end(directory.owner.uid, directory)
        }
      } catch (error) {
        if (session.signal.aborted) return CANCELLED
        if (!isUnavailable(error))
          options.log.error('a run failed outside its steps', { run_id: session.key.runId, error })
        return { status: 'failed', errorMessage: errorText(error) }
      }
    },
    noteScopes: (version) => context.boundaries.note(version),
    async [Symbol.asyncDispose]() {
      await context.ports[Symbol.asyncDispose]()
      await context.engine[Symbol.asyncDispose]()
    },
  }
}

const isUnavailable = (error: unknown): boolean =>
  Error.isError(error) && error.name === 'RunnerUnavailableError'

interface PerformContext extends JournalContext, Omit<SpreadContext, 'slots'> {
  readonly engine: Engine
  readonly workFolders: WorkFolders
  readonly boundaries: Boundaries
  readonly ports: ProxyPorts
  readonly slots?: SlotPool | undefined
}

const CANCELLED: Verdict = { status: 'cancelled', errorMessage: '' }

const perform = async (
  session: Session,
  guard: Guard,
  directory: WorkingDirectory,
  workflow: ResolvedWorkflow,
  context: PerformContext,
): Promise<Verdict> => {
  const { engine, workFolders, options, ports } = context
  const { folders, recorder, signal } = session
  const file = await fetchTarget(session, directory, options.artifacts)
  const permission = await guard.start(file)
  if (!permission.allowed) {
    session.opensAt = permission.opensAt
    if (permission.opensAt !== undefined) session.stop('closed')
    return { status: 'failed', errorMessage: `refused: ${permission.reason}` }
  }
  const run = file === undefined ? session.run : { ...session.run, target: file }
  const share = await guard.share()
  if ('reason' in share) {
    session.stop('limited')
    return { status: 'failed', errorMessage: share.reason }
  }
  await using proxy = new RunProxy({
    guard,
    directory,
    ports,
    rate: share.rate,
    log: (line) => recorder.log('info', line),
    unmetered: (why) => recorder.facts({ proxy: `none, requests are neither checked nor limited: ${why}` }),
    unpaced: (why) => recorder.facts({ connections: `not delayed beside the proxy: ${why}` }),
  })
  const { operatorInput: operator } = options
  const versions = (): Record<string, string> =>
    toolFacts(declaredTools(workflow, run), run.attempt, options.toolVersions)
  recorder.facts(versions())
  session.journal = await openJournal(session, directory, workflow, context)
  const batch = await openBatch(session, directory, options, context.limits)
  const shown = { ...session.run, ...batch?.run }
  const result = await execute({
    workflow,
    target: run.target,
    localTarget: file === undefined ? undefined : 'file',
    params: run.params,
    strictParams: options.strictParams,
    workspace: run.workspace,
    runUuid: shown.runUuid,
    runId: shown.runId,
    attempt: shown.attempt,
    folders: {
      base: workFolders.base,
      ...operator?.folders,
      output: folders.workspace,
      temp: folders.attempt,
    },
    env: environmentOf({ ...run, ...batch?.run }, folders, options.path ?? DEFAULT_PATH, {
      home: options.homes?.of(folders.workspace),
      operatorEnv: operator?.env,
      rate: share.rate,
    }),
    variables: operator?.variables,
    ...(share.rate !== null && {
      rate: share.rate,
      rateVariables: (rate: number) => boundVariables({ rate }),
    }),
    secrets: operator?.secrets,
    openDirectory: () => directory.open(),
    openRunner: (spec) => openRunner(session, { directory, guard, proxy }, spec, options),
    onRunner: (module, where) => {
      const declared = run.runner?.type ?? runnerOf(workflow)
      if (where.type !== 'host' || declared !== 'host') recorder.facts(runnerFacts(module, where))
    },
    runnerChoice: run.runner,
    recorder,
    resume: session.journal,
    batch: batch?.work,
    spread: openSpread(session, directory, context),
    slots: options.countsThreads === false ? undefined : context.slots?.loops,
    engine,
    signal,
    eventEnvelope: run.eventEnvelope,
    services: {
      ...options.services,
      permit: (target, where) => guard.refusal(target, where),
      database:
        batch === undefined
          ? findingsService(options.store, session.key, scopeParams(workflow, run.params))
          : undefined,
    },
    paths: options.allowedPaths,
    ...(options.graceMs !== undefined && { limits: { graceMs: options.graceMs } }),
  })
  // The versions may have been asked for the first time during the run.
  recorder.facts(versions())
  session.killedPids.push(...result.killedPids)
  if (result.status === 'completed' && !signal.aborted) await batch?.finish()
  else if (session.stopped === 'drain') {
    await batch?.finish().catch((error: unknown) => {
      recorder.log('warn', `the ended items of the batch are executed again: ${errorText(error)}`)
    })
    if (session.part !== undefined) return { status: 'completed', errorMessage: '' }
  }
  return { status: result.status, errorMessage: result.errorMessage }
}

/** Only workers take runs of the queue; batches have none. */
const openSpread = (
  session: Session,
  directory: WorkingDirectory,
  { options, limits, backoff, slots }: PerformContext,
): Spread | undefined => {
  const { run, journal } = session
  if (run.runMode !== 'distributed' || journal === undefined || slots === undefined) return undefined
  return new Spread(session, journal, directory, { options, limits, backoff, slots })
}

/** The programs of each workflow by runner, as finding them reads every step. */
const knownTools = new WeakMap<ResolvedWorkflow, Map<string, readonly string[]>>()

/** The programs that the run needs on this machine. */
const declaredTools = (workflow: ResolvedWorkflow, { runner }: ClaimedRun): readonly string[] => {
  const known = knownTools.get(workflow) ?? new Map<string, readonly string[]>()
  knownTools.set(workflow, known)
  const type = runner?.type ?? ''
  const tools =
    known.get(type) ??
    requirements(workflow, runner === null ? {} : { runner: runner.type }).flatMap((need) =>
      need.startsWith(TOOL) ? [need.slice(TOOL.length)] : [],
    )
  known.set(type, tools)
  return tools
}

/** Versions of programs in the facts of a run: `tool:nmap` = `7.93`, unknown ones instead of earlier ones. */
const toolFacts = (
  names: readonly string[],
  attempt: number,
  versions: ExecutorOptions['toolVersions'],
): Record<string, string> =>
  Object.fromEntries(
    [...(versions?.of(names) ?? [])]
      .filter(([, version]) => version !== '' || attempt > 1)
      .map(([name, version]) => [`${TOOL}${name}`, version]),
  )

/** The runner of a module of a flow, for the facts of the run: modules may use different runners. */
const runnerFacts = (
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
  parts: { readonly directory: WorkingDirectory; readonly guard: Guard; readonly proxy: RunProxy },
  spec: RunnerSpec,
  { runners, homes, enforcement }: ExecutorOptions,
): Promise<Runner> => {
  const { run, folders, recorder, signal } = session
  const { directory } = parts
  const home = homes?.own(folders.workspace)
  const runner = await runners.open(spec, {
    runUuid: run.runUuid,
    attempt: run.attempt,
    folder: folders.attempt,
    workspace: folders.workspace,
    home,
    get owner() {
      return directory.owner
    },
    prepare: () => directory.open(),
    marker: `${run.runUuid}.${run.attempt}`,
    signal,
    log: (line) => recorder.log('info', line),
  })
  recorder.facts(runner.facts)
  if (!runner.sharesFiles) session.journal?.usesOtherMachine()
  return guardedRunner(runner, { enforcement, ...parts, capacity: () => recorder.buffer.waitForCapacity() })
}
