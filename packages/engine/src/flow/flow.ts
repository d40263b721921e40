import type { ResolvedWorkflow, ModuleRef, Workflow, Value } from '@scanfarm/language'
import { messageOf, data } from '@scanfarm/language'
import { runActions } from '../step/actions.ts'
import { condition } from '../step/condition.ts'
import { unmetDependency } from './dependencies.ts'
import { runHooks, skipSteps, type ListEnd } from './steps-in-order.ts'
import type { ExecuteInput } from '../input.ts'
import { actOnce, rememberedIn } from './resume.ts'
import { leaveOut, runModule } from './module.ts'
import { workflowOf } from './modules-of.ts'
import { contextAround, type StepContext } from '../step/step-context.ts'
import { RenderError, renderValue } from '../step/render.ts'
import { registerReports } from './reports.ts'
import type { Run } from './run.ts'
import { moduleRunner } from '../runner/runner-spec.ts'
import { BranchScope, Scope } from './scope.ts'
import { runUnits } from '../runner/branches.ts'
import type { Turns } from '../runner/turns.ts'
import { moduleContext } from '../step/step.ts'

const words = (text = ''): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Callers exclude modules by name or by a part of the name, in params. */
export const isExcluded = (name: string, { params }: Pick<ExecuteInput, 'params'>): boolean =>
  words(params['exclude_modules']).includes(name) ||
  words(params['fuzzy_exclude_modules']).some((part) => name.includes(part))

class Flow {
  readonly #run: Run
  readonly #resolved: ResolvedWorkflow
  readonly #scope: Scope
  readonly #ends: { name: string; end: ListEnd }[] = []
  #aborted = ''
  /** Modules that work side by side divide the rate of the run. */
  readonly #turns = new Map<ModuleRef, Turns>()

  constructor(run: Run, resolved: ResolvedWorkflow, scope: Scope) {
    this.#run = run
    this.#resolved = resolved
    this.#scope = scope
  }

  /** Starts each module when its dependencies have ended. Failed and skipped ones do not block dependents. */
  async run(): Promise<ListEnd> {
    const { input, limits, signal, turns } = this.#run
    const all = this.#resolved.root.modules ?? []
    // The first module of a name.
    const refs = all.filter((ref) => all.find(({ name }) => name === ref.name) === ref)
    const order = {
      most: limits.parallelModules,
      turns,
      signal,
      sharing: refs.filter(({ name }) => !isExcluded(name, input)),
      stops: () => signal.aborted || this.#aborted !== '',
    }
    const rest = await runUnits(refs, order, (ref, own) => this.#module(ref, own))
    return this.#verdict(new Set([...rest].map(({ name }) => name)))
  }

  /** `rest`: modules that have not begun. */
  #verdict(rest: ReadonlySet<string>): ListEnd {
    if (this.#run.signal.aborted) return { kind: 'cancelled' }
    const [waiting] = rest
    const error =
      this.#aborted || (waiting && `circular dependency detected: module ${waiting} has unmet dependencies`)
    if (error) {
      for (const { name, workflow } of includedModules(this.#run, this.#resolved))
        if (rest.has(name)) leaveOut(this.#run, { workflow, name, scope: this.#scope }, error)
      return { kind: 'failed', error }
    }
    const failures = this.#ends.flatMap(({ name, end }) =>
      end.kind === 'failed' ? [{ name, error: end.error }] : [],
    )
    const [first] = failures
    // A failed module does not stop the flow. The flow fails if a module failed and none completed.
    if (first !== undefined && !this.#ends.some(({ end }) => end.kind === 'completed')) {
      return { kind: 'failed', error: `module ${first.name} failed: ${first.error}` }
    }
    return { kind: 'completed' }
  }

  async #module(ref: ModuleRef, turns: Turns | undefined): Promise<void> {
    if (turns !== undefined) this.#turns.set(ref, turns)
    const end = await this.#outcome(ref)
    if (end.kind === 'failed') this.#run.input.recorder.log('warn', `module ${ref.name} failed: ${end.error}`)
    const actions =
      end.kind === 'failed' ? ref.on_error : end.kind === 'completed' ? ref.on_success : undefined
    if (actions !== undefined && !this.#run.signal.aborted) {
      const list = end.kind === 'failed' ? 'on_error' : 'on_success'
      const abort = await actOnce(this.#context(ref, `${ref.name}/${list}`), async () => {
        const acted = await runActions(this.#context(ref), actions, list).catch((error: unknown) => {
          if (!(error instanceof RenderError)) throw error
          this.#run.input.recorder.log('warn', `module ${ref.name}: ${list}: ${error.message}`)
          return { abort: false }
        })
        return acted.abort
      })
      const reason =
        end.kind === 'failed'
          ? `module ${ref.name} failed: ${end.error}`
          : `module ${ref.name} aborted the flow`
      if (abort) this.#aborted ||= reason
    }
    this.#ends.push({ name: ref.name, end })
  }

  async #outcome(ref: ModuleRef): Promise<ListEnd> {
    const workflow = workflowOf(this.#resolved, ref)
    if (workflow === undefined) {
      const error = `failed to load module ${ref.name}`
      this.#run.tally.moduleLeftOut(ref.name, error)
      return { kind: 'failed', error }
    }
    if (isExcluded(ref.name, this.#run.input)) return this.#skip(ref, workflow, 'the module is excluded')
    const condition = await this.#condition(ref)
    if (condition.kind === 'false')
      return this.#skip(ref, workflow, `the condition of the module is false: ${ref.condition}`)
    const plan = { workflow, name: ref.name, scope: this.#scope }
    if (condition.kind === 'error') {
      const message = `the condition of the module cannot be evaluated: ${condition.message}`
      this.#run.input.recorder.log('warn', `module ${ref.name}: ${message}`)
      leaveOut(this.#run, plan, message)
      return { kind: 'skipped', message }
    }
    const args = this.#params(ref)
    if (args instanceof RenderError) {
      leaveOut(this.#run, plan, args.message)
      return { kind: 'failed', error: args.message }
    }
    try {
      return await this.#runModule(ref, workflow, args)
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      this.#run.tally.failed(`module ${ref.name}`, error.message)
      return { kind: 'failed', error: error.message }
    }
  }

  #params(ref: ModuleRef): ReadonlyMap<string, Value> | RenderError {
    try {
      return new Map(
        Object.entries(ref.params ?? {}).map(([name, text]): [string, Value] => [
          name,
          renderValue(text, this.#scope),
        ]),
      )
    } catch (error) {
      if (error instanceof RenderError) return error
      throw error
    }
  }

  /** Params of the reference take precedence over variables of the flow with the same name. */
  async #runModule(ref: ModuleRef, workflow: Workflow, args: ReadonlyMap<string, Value>): Promise<ListEnd> {
    const outer = this.#scope
    const turns = this.#turns.get(ref)
    const scope = new Scope(this.#scopeOf(turns))
    scope.setAll(args)
    const plan = {
      workflow,
      name: ref.name,
      scope,
      turns,
      argumentOf: (name: string) => args.get(name) ?? outer.get(name),
    }
    const { end, exports } = await runModule(this.#run, plan)
    outer.setAll(exports)
    return end
  }

  /** Evaluates the condition of the module. */
  async #condition(
    ref: ModuleRef,
  ): Promise<{ kind: 'true' } | { kind: 'false' } | { kind: 'error'; message: string }> {
    if (ref.condition === undefined || ref.condition === '' || this.#run.input.dryRun === true)
      return { kind: 'true' }
    const source = ref.condition
    const [kind, message = ''] = await rememberedIn(this.#run, `condition of ${ref.name}`, async () => {
      const result = await condition(this.#context(ref), source)
      return result.kind === 'error' ? ['error', result.message] : [result.kind]
    })
    if (kind === 'error') return { kind, message }
    return { kind: kind === 'true' ? 'true' : 'false' }
  }

  #scopeOf(turns: Turns | undefined): Scope {
    return turns === undefined ? this.#scope : new BranchScope(this.#scope, turns.rate)
  }

  /** Step context of a module reference, for its condition and actions. They run here, wherever the module runs. */
  #context(ref: ModuleRef, key = ref.name): StepContext {
    const turns = this.#turns.get(ref)
    const module = moduleContext(this.#run, ref.name, this.#scopeOf(turns), { turns })
    return contextAround(module, ref.name, { key })
  }

  #skip(ref: ModuleRef, workflow: Workflow, reason: string): ListEnd {
    const module = moduleContext(this.#run, ref.name, this.#scope)
    skipSteps(module, workflow.steps ?? [], new Set(), reason)
    return { kind: 'skipped', message: reason }
  }
}

const includedModules = (
  { input }: Run,
  resolved: ResolvedWorkflow,
): { name: string; workflow: Workflow }[] =>
  (resolved.root.modules ?? []).flatMap((ref) => {
    const workflow = isExcluded(ref.name, input) ? undefined : workflowOf(resolved, ref)
    return workflow === undefined ? [] : [{ name: ref.name, workflow }]
  })

/** The first unmet dependency of the flow, or `""`. Programs are checked where its modules run by default. */
const unmetInFlow = async (run: Run, root: Workflow, scope: Scope): Promise<string> => {
  if (root.dependencies === undefined || run.input.skipValidation === true) return ''
  try {
    const runner = moduleRunner(root, run.input.runnerChoice ?? null)
    const module = moduleContext(run, '', scope, { runner })
    return (
      (await unmetDependency(contextAround(module, root.name, { type: 'flow' }), root.dependencies)) ?? ''
    )
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * Runs the hooks and modules of a flow, each module as soon as its dependencies have ended. `missing`: the reason why
 * its params cannot be set, or `""`.
 */
export const runFlow = async (
  run: Run,
  resolved: ResolvedWorkflow,
  scope: Scope,
  missing: string,
): Promise<ListEnd> => {
  const { root } = resolved
  scope.set('FlowName', data(root.name))
  scope.set('flow_name', data(root.name))
  const module = moduleContext(run, '', scope)
  const unmet = missing || (await unmetInFlow(run, root, scope))
  if (run.signal.aborted) return { kind: 'cancelled' }
  if (unmet !== '') {
    for (const { name, workflow } of includedModules(run, resolved))
      leaveOut(run, { workflow, name, scope }, unmet)
    return { kind: 'failed', error: unmet }
  }
  await runHooks(module, root.hooks?.pre_scan_steps ?? [], 'pre')
  const end = await new Flow(run, resolved, scope).run()
  if (end.kind !== 'completed') return end
  await runHooks(module, root.hooks?.post_scan_steps ?? [], 'post')
  if (run.input.dryRun !== true) await registerReports(run, root.reports ?? [], scope)
  return run.signal.aborted ? { kind: 'cancelled' } : end
}
