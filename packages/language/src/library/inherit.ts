import type { Dependencies, ModuleRef, Override, Param, RunnerConfig, Step, Workflow } from '../model.ts'

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

interface ListChange<Item> {
  readonly mode: 'replace' | 'prepend' | 'append' | 'merge' | undefined
  readonly items: readonly Item[]
  readonly replace: readonly Item[]
  readonly remove: readonly string[]
}

const mergeList = <Item extends { name: string }>(
  parent: readonly Item[],
  change: ListChange<Item>,
): Item[] => {
  const { mode = 'append', items, replace, remove } = change
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

const mergeSteps = (parent: readonly Step[], change: NonNullable<Override['steps']>): Step[] =>
  mergeList(parent, {
    mode: change.mode,
    items: change.steps ?? [],
    replace: change.replace ?? [],
    remove: change.remove ?? [],
  })

const mergeModules = (parent: readonly ModuleRef[], change: NonNullable<Override['modules']>): ModuleRef[] =>
  mergeList(parent, {
    mode: change.mode,
    items: change.modules ?? [],
    replace: change.replace ?? [],
    remove: change.remove ?? [],
  })

/**
 * Merges a child into its parent. The child contributes name, description, tags, help and `override`; its own lists
 * (steps, modules, …) are ignored, which the checker reports.
 */
export const inherit = (parent: Workflow, child: Workflow): Workflow => {
  const { override = {} } = child
  const { extends: _, override: __, ...base } = parent
  return {
    ...base,
    kind: child.kind,
    name: child.name,
    ...(child.description === undefined ? {} : { description: child.description }),
    ...(child.tags === undefined ? {} : { tags: child.tags }),
    ...(child.help === undefined ? {} : { help: child.help }),
    ...(child.hidden === undefined ? {} : { hidden: child.hidden }),
    ...(override.params === undefined ? {} : { params: mergeParams(parent.params ?? [], override.params) }),
    ...(override.steps === undefined ? {} : { steps: mergeSteps(parent.steps ?? [], override.steps) }),
    ...(override.modules === undefined
      ? {}
      : { modules: mergeModules(parent.modules ?? [], override.modules) }),
    ...(override.triggers === undefined ? {} : { triggers: override.triggers }),
    ...(override.dependencies === undefined
      ? {}
      : { dependencies: mergeDependencies(parent.dependencies, override.dependencies) }),
    ...(override.on_partial === undefined ? {} : { on_partial: override.on_partial }),
    ...(override.preferences === undefined
      ? {}
      : { preferences: { ...parent.preferences, ...override.preferences } }),
    ...(override.runner === undefined ? {} : { runner: override.runner }),
    ...(override.runner_config === undefined
      ? {}
      : { runner_config: mergeRunnerConfig(parent.runner_config, override.runner_config) }),
  }
}
