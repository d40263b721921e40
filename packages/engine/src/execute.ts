import { outcomeOf, type RunOutcome } from '@scanfarm/contracts'
import type { ResolvedWorkflow, Value } from '@scanfarm/language'
import type { Ports } from '@scanfarm/functions'
import { Builtins, RANDOM_LETTERS } from './flow/builtins.ts'
import { runFlow } from './flow/flow.ts'
import { workflowOf } from './flow/modules-of.ts'
import type { ExecuteInput, ExecuteResult } from './input.ts'
import { runModule } from './flow/module.ts'
import { probeTarget } from './target/probe-target.ts'
import { callerParams, FACTS, setParams } from './flow/params.ts'
import { keptValue, valueOf } from './flow/kept-unit.ts'
import { rememberedIn } from './flow/resume.ts'
import { Run } from './flow/run.ts'
import { Scope } from './flow/scope.ts'
import { keepsState, StateFiles } from './flow/state-files.ts'
import type { ListEnd } from './flow/steps-in-order.ts'
import type { BatchWork } from './flow/spread.ts'
import { ownRow } from './step/row.ts'
import { moduleContext } from './step/step.ts'
import type { StepContext } from './step/step-context.ts'
import { failed } from './step/step-end.ts'
import { runBatch } from './steps/foreach.ts'

/** Number of steps that count towards `total_steps`: the top-level steps of each module. */
export const countSteps = (resolved: ResolvedWorkflow): number =>
  resolved.root.kind === 'module'
    ? (resolved.root.steps ?? []).length
    : (resolved.root.modules ?? []).reduce(
        (sum, ref) => sum + (workflowOf(resolved, ref)?.steps ?? []).length,
        0,
      )

const keptPorts = (now: number, random: readonly number[]): Pick<Ports, 'now' | 'random'> => {
  let drawn = 0
  return { now: () => new Date(now), random: () => random[drawn++ % random.length] ?? 0 }
}

/** Built-in variables with the time and a random text are the same in every attempt. */
const commonPorts = async (run: Run): Promise<Pick<Ports, 'now' | 'random'>> => {
  if (run.input.resume === undefined) return run.ports
  const { now, random } = await rememberedIn(run, 'ports', () => ({
    now: run.ports.now().getTime(),
    random: Array.from({ length: RANDOM_LETTERS }, run.ports.random),
  }))
  return keptPorts(now, random)
}

/** The outermost scope, with the variables of the system and the params of the caller. */
export const baseScopes = async (run: Run): Promise<{ caller: Scope; params: Map<string, Value> }> => {
  const system = new Scope(new Builtins(run.input, await commonPorts(run)))
  const facts = await rememberedIn(run, 'target', async () =>
    (await probeTarget(run)).map(([name, value]) => ({ name, value: keptValue(value) })),
  )
  system.setAll(facts.map(({ name, value }) => [name, valueOf(value)]))
  const params = new Map(callerParams(run.input.params, run.input.strictParams ?? false))
  for (const name of FACTS) params.delete(name)
  const caller = new Scope(system)
  caller.setAll([...params].filter(([name]) => /^\w+$/.test(name)))
  return { caller, params }
}

const perform = async (run: Run, state: StateFiles | undefined): Promise<ListEnd> => {
  if (state !== undefined) {
    if (!(await run.hasDirectory())) return { kind: 'failed', error: run.directoryError }
    await state.begin(run)
  }
  const { workflow } = run.input
  const { caller, params } = await baseScopes(run)
  const { root } = workflow
  const argumentOf = (name: string) => params.get(name)
  if (root.kind === 'module') {
    return (await runModule(run, { workflow: root, name: '', scope: new Scope(caller), argumentOf })).end
  }
  const scope = new Scope(caller)
  const missing = await setParams(run, root.params ?? [], scope, argumentOf)
  return await runFlow(run, workflow, scope, missing)
}

const performBatch = async (run: Run, work: BatchWork): Promise<ListEnd> => {
  const { key, step, module: name, runner, variables, env, now, random } = work.state
  const scope = new Scope(new Builtins(run.input, keptPorts(now, random)))
  scope.setAll(variables.map(([variable, value]) => [variable, valueOf(value)]))
  Object.assign(run.env, env)
  const module = moduleContext(run, name, new Scope(scope), { runner })
  const outcome = await run.tally.step({ name: step.name, module: name }, async (trace) => {
    const at: StepContext = { module, step, scope: module.scope, key, limits: [], trace }
    const row = ownRow(true)(at, '')
    const end = (await run.hasDirectory()) ? await runBatch(at, work) : failed(run.directoryError)
    const error = 'error' in end ? end.error : undefined
    row.close(end.kind === 'cancelled' || end.kind === 'failed' ? end.kind : 'completed', { error })
    if (end.kind === 'failed') return { ...end, continues: true, output: '' }
    return end.kind === 'done' ? { kind: 'completed', output: '', exports: new Map() } : end
  })
  // Failed items are for the run of the loop to judge.
  return outcome.kind === 'cancelled' ? outcome : { kind: 'completed' }
}

type Verdict = Pick<ExecuteResult, 'status' | 'errorMessage'>

const verdict = (run: Run, end: ListEnd): Verdict => {
  if (run.signal.aborted && !run.timedOut) return { status: 'cancelled', errorMessage: '' }
  if (run.timedOut) return { status: 'failed', errorMessage: 'the run timed out' }
  if (run.directoryError !== '') return { status: 'failed', errorMessage: run.mask.text(run.directoryError) }
  if (end.kind === 'failed') return { status: 'failed', errorMessage: run.mask.text(end.error) }
  return { status: 'completed', errorMessage: '' }
}

const OUTCOME_TEXT: Readonly<Record<RunOutcome, string>> = {
  clean: '',
  partial: 'the run did only part of its work',
  nothing_done: 'the run did nothing',
}

/** A workflow with `on_partial: fail` fails when its outcome is not clean. */
const resultOf = (run: Run, end: ListEnd): ExecuteResult => {
  const { batch, dryRun = false, workflow } = run.input
  const tally = run.tally.now
  const found = { ...verdict(run, end), tally, killedPids: [...run.killed] }
  if (dryRun) return found
  const outcome = outcomeOf(found.status, tally)
  if (
    found.status !== 'completed' ||
    outcome === 'clean' ||
    workflow.root.on_partial !== 'fail' ||
    batch !== undefined
  )
    return { ...found, outcome }
  const errorMessage = [OUTCOME_TEXT[outcome], tally.reasons.join('; ')].filter(Boolean).join(': ')
  return { ...found, status: 'failed', errorMessage, outcome: outcomeOf('failed', tally) }
}

/**
 * Runs a resolved workflow on one target and resolves with the result; rejects only for bugs. When it resolves, every
 * process that it started has ended and every runner is closed. All effects are injected: the recorder receives what
 * happens, runners run commands, services give functions access to the outside.
 */
export const execute = async (input: ExecuteInput): Promise<ExecuteResult> => {
  const state = input.batch === undefined && keepsState(input) ? new StateFiles(input.recorder) : undefined
  const run = new Run(state === undefined ? input : { ...input, recorder: state.recorder })
  const startedAt = run.ports.now()
  try {
    const { batch } = input
    run.input.recorder.plan(batch === undefined ? countSteps(input.workflow) : 1)
    const end = await (batch === undefined ? perform(run, state) : performBatch(run, batch))
    if (end.kind === 'skipped' && end.message !== '')
      run.input.recorder.log('info', `skipped: ${end.message}`)
    const result = resultOf(run, end)
    if (result.status === 'completed' && end.kind !== 'skipped') await state?.complete(run, startedAt)
    return result
  } finally {
    await state?.close()
    await run[Symbol.asyncDispose]()
  }
}
