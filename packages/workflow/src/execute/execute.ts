import { outcomeOf, type RunOutcome } from '@scanfarm/contracts'
import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Value } from '../template/value.ts'
import { builtins } from './builtins.ts'
import { runFlow, workflowOf } from './flow.ts'
import type { ExecuteInput, ExecuteResult } from './input.ts'
import { runModule } from './module.ts'
import { probeTarget } from './probe-target.ts'
import { callerParams, setParams } from './params.ts'
import { Run } from './run.ts'
import { Scope } from './scope.ts'
import { keepsState, StateFiles } from './state-files.ts'
import type { ListEnd } from './steps-in-order.ts'

/** Steps that count towards `total_steps`: those at the top of each module. */
export const countSteps = (resolved: ResolvedWorkflow): number =>
  resolved.root.kind === 'module'
    ? (resolved.root.steps ?? []).length
    : (resolved.root.modules ?? []).reduce(
        (sum, ref) => sum + (workflowOf(resolved, ref)?.steps ?? []).length,
        0,
      )

/** The two lowest layers of variables: those of the system, and over them the caller's. */
export const baseScopes = async (
  run: Run,
): Promise<{ system: Scope; caller: Scope; params: Map<string, Value> }> => {
  const system = new Scope()
  system.setAll([...builtins(run.input, run.ports), ...(await probeTarget(run))])
  const params = new Map(callerParams(run.input.params, run.input.strictParams ?? false))
  // What the system knows for sure is not the caller's to say.
  for (const name of ['Target', 'target', 'Output', 'RunUUID', 'DBRunID', 'TempDir']) params.delete(name)
  const caller = new Scope(system)
  caller.setAll([...params].filter(([name]) => /^\w+$/.test(name)))
  return { system, caller, params }
}

const perform = async (run: Run): Promise<ListEnd> => {
  const { workflow } = run.input
  const { caller, params } = await baseScopes(run)
  const { root } = workflow
  const given = (name: string) => params.get(name)
  if (root.kind === 'module') {
    return (await runModule(run, { workflow: root, name: '', scope: new Scope(caller), given })).end
  }
  const scope = new Scope(caller)
  const missing = await setParams(run, root.params ?? [], scope, given)
  return await runFlow(run, workflow, scope, missing)
}

type Verdict = Pick<ExecuteResult, 'status' | 'errorMessage'>

const verdict = (run: Run, end: ListEnd): Verdict => {
  if (run.signal.aborted && !run.timedOut) return { status: 'cancelled', errorMessage: '' }
  if (run.timedOut) return { status: 'failed', errorMessage: 'the run timed out' }
  if (end.kind === 'failed') return { status: 'failed', errorMessage: run.mask.text(end.error) }
  return { status: 'completed', errorMessage: '' }
}

const OUTCOME_TEXT: Readonly<Record<RunOutcome, string>> = {
  clean: '',
  partial: 'the run did only a part of its work',
  nothing_done: 'the run did nothing',
}

/** A workflow may ask that a run which is not clean is a failed one. */
const resultOf = (run: Run, end: ListEnd): ExecuteResult => {
  const { dryRun = false, workflow } = run.input
  const tally = run.tally.now
  const found = { ...verdict(run, end), tally, killedPids: [...run.killed] }
  if (dryRun) return found
  const outcome = outcomeOf(found.status, tally)
  if (found.status !== 'completed' || outcome === 'clean' || workflow.root.on_partial !== 'fail')
    return { ...found, outcome }
  const errorMessage = [OUTCOME_TEXT[outcome], tally.reasons.join('; ')].filter(Boolean).join(': ')
  return { ...found, status: 'failed', errorMessage, outcome: outcomeOf('failed', tally) }
}

/**
 * Runs a resolved workflow on one target, from its params to its reports, and resolves with what became of it;
 * rejects only for bugs. When it resolves, everything it started has ended and every runner is closed. All effects
 * go through the input: the recorder hears what happens, runners run commands, services are what functions may reach.
 */
export const execute = async (input: ExecuteInput): Promise<ExecuteResult> => {
  const state = keepsState(input) ? new StateFiles(input.recorder) : undefined
  const run = new Run(state === undefined ? input : { ...input, recorder: state.recorder })
  const startedAt = run.ports.now()
  try {
    await state?.begin(input)
    run.input.recorder.plan(countSteps(input.workflow))
    const end = await perform(run)
    if (end.kind === 'skipped' && end.message !== '')
      run.input.recorder.log('info', `skipped: ${end.message}`)
    const result = resultOf(run, end)
    if (result.status === 'completed' && end.kind !== 'skipped') await state?.complete(run, startedAt)
    return result
  } finally {
    await run[Symbol.asyncDispose]()
  }
}
