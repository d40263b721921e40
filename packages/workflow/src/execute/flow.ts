import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { ModuleRef, Step, Workflow } from '../model.ts'
import { data, type Value } from '../template/value.ts'
import { condition } from './condition.ts'
import { runModule } from './module.ts'
import type { ModuleRun, StepRun } from './place.ts'
import { RenderError, renderValue } from './render.ts'
import { registerReports } from './reports.ts'
import type { Run } from './run.ts'
import { Scope } from './scope.ts'
import { skipStep } from './step.ts'
import { placeStep, type ListEnd } from './steps-in-order.ts'

/** The module that a reference means: its file, or what is written in place. */
export const workflowOf = (
  { modules }: Pick<ResolvedWorkflow, 'modules'>,
  ref: ModuleRef,
): Workflow | undefined =>
  (ref.steps ?? []).length > 0
    ? {
        kind: 'module',
        name: ref.name,
        steps: ref.steps ?? [],
        ...(ref.runner === undefined ? {} : { runner: ref.runner }),
        ...(ref.runner_config === undefined ? {} : { runner_config: ref.runner_config }),
      }
    : modules[ref.name]

class Flow {
  readonly #run: Run
  readonly #resolved: ResolvedWorkflow
  readonly #scope: Scope
  readonly #ended = new Set<string>()
  readonly #started = new Set<string>()
  readonly #ends: { name: string; end: ListEnd }[] = []

  constructor(run: Run, resolved: ResolvedWorkflow, scope: Scope) {
    this.#run = run
    this.#resolved = resolved
    this.#scope = scope
  }

  /** Starts whatever has all it depends on behind it; a failed or skipped module holds nothing up. */
  async run(): Promise<ListEnd> {
    const refs = this.#resolved.root.modules ?? []
    const running = new Set<Promise<void>>()
    for (;;) {
      for (const ref of this.#stops() ? [] : refs) {
        if (running.size >= this.#run.limits.parallelModules) break
        if (this.#started.has(ref.name) || !(ref.depends_on ?? []).every((name) => this.#ended.has(name)))
          continue
        this.#started.add(ref.name)
        const task: Promise<void> = this.#module(ref).finally(() => running.delete(task))
        running.add(task)
      }
      if (running.size === 0) break
      await Promise.race(running)
    }
    return this.#verdict(refs)
  }

  #stops(): boolean {
    return this.#run.signal.aborted
  }

  #verdict(refs: readonly ModuleRef[]): ListEnd {
    if (this.#run.signal.aborted) return { kind: 'cancelled' }
    const waiting = refs.find(({ name }) => !this.#started.has(name))
    if (waiting !== undefined) {
      const error = `circular dependency detected: module ${waiting.name} has unmet dependencies`
      return { kind: 'failed', error }
    }
    const failures = this.#ends.flatMap(({ name, end }) =>
      end.kind === 'failed' ? [{ name, error: end.error }] : [],
    )
    const [first] = failures
    // A flow goes on past a module that fails; it has failed itself when nothing in it has worked.
    if (first !== undefined && !this.#ends.some(({ end }) => end.kind === 'completed')) {
      return { kind: 'failed', error: `module ${first.name} failed: ${first.error}` }
    }
    for (const { name, error } of failures)
      this.#run.input.recorder.log('warn', `module ${name} failed: ${error}`)
    return { kind: 'completed' }
  }

  async #module(ref: ModuleRef): Promise<void> {
    const end = await this.#outcome(ref)
    this.#ended.add(ref.name)
    this.#ends.push({ name: ref.name, end })
  }

  async #outcome(ref: ModuleRef): Promise<ListEnd> {
    const workflow = workflowOf(this.#resolved, ref)
    if (workflow === undefined) return { kind: 'failed', error: `failed to load module ${ref.name}` }
    const { exclude = [] } = this.#run.input
    if (exclude.includes(ref.name)) return this.#skip(ref, workflow, 'the module is excluded')
    const refused = await this.#condition(ref)
    if (refused !== undefined) return this.#skip(ref, workflow, refused)
    const scope = new Scope(this.#scope)
    let given: Map<string, Value>
    try {
      given = this.#params(ref)
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      return { kind: 'failed', error: error.message }
    }
    scope.setAll(given)
    scope.set('FlowName', data(this.#resolved.root.name))
    scope.set('flow_name', data(this.#resolved.root.name))
    const outer = this.#scope
    const { end, exports } = await runModule(this.#run, {
      workflow,
      name: ref.name,
      scope,
      given: (name) => given.get(name) ?? outer.get(name),
    })
    this.#scope.setAll(exports)
    return end
  }

  #params(ref: ModuleRef): Map<string, Value> {
    const { engine } = this.#run
    return new Map(
      Object.entries(ref.params ?? {}).map(([name, text]) => [name, renderValue(engine, text, this.#scope)]),
    )
  }

  /** Why the module is not run, if its condition says so; a condition that cannot be evaluated skips, too. */
  async #condition(ref: ModuleRef): Promise<string | undefined> {
    if (ref.condition === undefined || ref.condition === '' || this.#run.input.dryRun === true)
      return undefined
    const result = await condition(this.#place(ref), ref.condition)
    if (result.kind === 'true') return undefined
    if (result.kind !== 'error') return 'the condition of the module is false'
    const message = `the condition of the module cannot be evaluated: ${result.message}`
    this.#run.input.recorder.log('warn', `module ${ref.name}: ${message}`)
    return message
  }

  #place(ref: ModuleRef): StepRun {
    const step: Step = { name: ref.name, type: 'module' }
    return { module: this.#moduleRun(ref), step, scope: this.#scope, key: ref.name }
  }

  #moduleRun(ref: ModuleRef): ModuleRun {
    return {
      run: this.#run,
      name: ref.name,
      runner: { type: 'host' },
      scope: this.#scope,
      exported: new Set(),
    }
  }

  #skip(ref: ModuleRef, workflow: Workflow, reason: string): ListEnd {
    const module = this.#moduleRun(ref)
    for (const [index, step] of (workflow.steps ?? []).entries()) {
      skipStep(placeStep(module, step, String(index + 1)), reason, true)
    }
    return { kind: 'skipped', message: reason }
  }
}

/** The modules of a flow, each as soon as what it depends on has ended. */
export const runFlow = async (run: Run, resolved: ResolvedWorkflow, scope: Scope): Promise<ListEnd> => {
  const end = await new Flow(run, resolved, scope).run()
  if (end.kind === 'completed' && run.input.dryRun !== true) {
    await registerReports(run, resolved.root.reports ?? [], scope)
  }
  return end
}
