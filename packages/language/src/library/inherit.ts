import type { Dependencies, Override, Param, RunnerConfig, Workflow } from '../model.ts'

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mergeParams = (parent: readonly Param[], changes: NonNullable<Override['params']>): Param[] => {
  const change = (name: string): Partial<Param> => {
    const value = changes[name]
    return isMap(value) ? (value as Partial<Param>) : value === undefined ? {} : { default: value }
  }
  const known = new Set(parent.map(({ name }) => name))
  return [
    ...parent.map((param) => ({ ...param, ...change(param.name) })),
    ...Object.keys(changes)
      .filter((name) => !known.has(name))
      .map((name) => ({ ...change(name), name })),
  ]
}

type ListChange = NonNullable<Override['steps']> | NonNullable<Override['modules']>

const mergeList = <Item extends { name: string }>(
  parent: readonly Item[] = [],
  items: readonly Item[] = [],
  { mode = 'append', replace = [], remove = [] }: Omit<ListChange, 'replace'> & { replace?: Item[] },
): Item[] => {
  if (mode === 'replace') return [...items]
  if (mode === 'prepend') return [...items, ...parent]
  if (mode === 'append') return [...parent, ...items]
  const kept = parent
    .map((item) => replace.find(({ name }) => name === item.name) ?? item)
    .filter(({ name }) => !remove.includes(name))
  const names = new Set(kept.map(({ name }) => name))
  return [...kept, ...items.filter(({ name }) => !names.has(name))]
}

const union = (a: readonly string[] = [], b: readonly string[] = []): string[] => [...new Set([...a, ...b])]

const mergeDependencies = (a: Dependencies = {}, b: Dependencies = {}): Dependencies => {
  const names = new Set((a.variables ?? []).map(({ name }) => name))
  return {
    commands: union(a.commands, b.commands),
    files: union(a.files, b.files),
    variables: [...(a.variables ?? []), ...(b.variables ?? []).filter(({ name }) => !names.has(name))],
    target_types: union(a.target_types, b.target_types),
    functions_conditions: union(a.functions_conditions, b.functions_conditions),
  }
}

export const mergeRunnerConfig = (a: RunnerConfig = {}, b: RunnerConfig = {}): RunnerConfig => ({
  ...a,
  ...b,
  ...(a.env || b.env ? { env: { ...a.env, ...b.env } } : {}),
  ...(a.volumes || b.volumes ? { volumes: union(a.volumes, b.volumes) } : {}),
})

/**
 * Merges a child into its parent. The child contributes name, description, tags, help and `override`; its own lists
 * (steps, modules, …) are ignored, which the checker reports.
 */
export const inherit = (parent: Workflow, { override = {}, ...child }: Workflow): Workflow => {
  const { extends: _, override: __, ...base } = parent
  const { steps, modules } = override
  return {
    ...base,
    kind: child.kind,
    name: child.name,
    description: child.description ?? base.description,
    tags: child.tags ?? base.tags,
    help: child.help ?? base.help,
    hidden: child.hidden ?? base.hidden,
    params: override.params ? mergeParams(base.params ?? [], override.params) : base.params,
    steps: steps ? mergeList(base.steps, steps.steps, steps) : base.steps,
    modules: modules ? mergeList(base.modules, modules.modules, modules) : base.modules,
    triggers: override.triggers ?? base.triggers,
    dependencies: override.dependencies
      ? mergeDependencies(base.dependencies, override.dependencies)
      : base.dependencies,
    on_partial: override.on_partial ?? base.on_partial,
    preferences: override.preferences ? { ...base.preferences, ...override.preferences } : base.preferences,
    runner: override.runner ?? base.runner,
    runner_config: override.runner_config
      ? mergeRunnerConfig(base.runner_config, override.runner_config)
      : base.runner_config,
  }
}
