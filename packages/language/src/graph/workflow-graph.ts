import { MAX_GRAPH_NODES, type GraphEdge, type GraphNode, type WorkflowGraph } from '@scanfarm/contracts'
import type { Action, Branch, Decision, ModuleRef, RunnerConfig, Step, Workflow } from '../model.ts'
import { keysOf, nestedSteps } from './parts.ts'

export interface Position {
  readonly file: string
  readonly line: number
}

/** A workflow with the positions of its parts by key; see `PartLines`. */
export interface LocatedWorkflow {
  readonly workflow: Workflow
  positionOf(key: string): Position
}

/** Most characters of each text in a node. */
const MAX_CHARS = 300
const MAX_TEXTS = 20

const END = '_end'

const short = (text: string): string => (text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`)
const shortAll = (texts: readonly (string | undefined)[]): string[] =>
  texts.flatMap((text) => (text === undefined || text === '' ? [] : [short(text)])).slice(0, MAX_TEXTS)

const doesOf = (step: Step): string[] =>
  shortAll([
    step.command,
    ...(step.commands ?? []),
    ...(step.parallel_commands ?? []),
    step.function,
    ...(step.functions ?? []),
    ...(step.parallel_functions ?? []),
    step.type === 'foreach' ? step.input : undefined,
    step.url === undefined ? undefined : `${step.method ?? 'GET'} ${step.url}`,
    step.query,
    ...(step.queries ?? []),
  ])

/** An action as a short text, for example `export found = stdout`. */
const actionText = (action: Action): string => {
  const what = (() => {
    switch (action.action) {
      case 'export':
        return `export ${action.name ?? ''} = ${action.value ?? ''}`
      case 'run':
        return `run ${action.command ?? (action.functions ?? []).join('; ')}`
      case 'notify':
        return `notify ${action.notify ?? action.message ?? ''}`
      case 'log':
      case 'abort':
      case 'continue':
      case undefined:
        return `${action.action ?? 'log'} ${action.message ?? ''}`
    }
  })().trim()
  return action.condition === undefined ? what : `if ${action.condition}: ${what}`
}

const actionTexts = (actions: readonly Action[] = []): string[] => shortAll(actions.map(actionText))

const branchesOf = ({ switch: over = '', cases = {}, default: other, conditions = [] }: Decision) => [
  ...Object.entries(cases).map(([word, branch]): [string, Branch] => [`${over} is ${word}`, branch]),
  ...(other === undefined ? [] : [[`${over} is anything else`, other] satisfies [string, Branch]]),
  ...conditions.map((branch): [string, Branch] => [`if ${branch.if ?? ''}`, branch]),
]

const runnerAt = ({ image, host }: RunnerConfig = {}): string => short(image ?? host ?? '')

const NOTHING = {
  kind: '',
  description: '',
  runner: '',
  runner_at: '',
  condition: '',
  does: [],
  tools: [],
  depends_on: [],
  parallel: false,
  on_success: [],
  on_error: [],
  timeout: '',
  attempts: 1,
  exports: [],
} satisfies Partial<GraphNode>

class Drawing {
  readonly nodes: GraphNode[] = []
  readonly edges: GraphEdge[] = []
  truncated = false
  readonly #ends = new Set<string>()

  add(node: Pick<GraphNode, 'id' | 'parent' | 'type' | 'name'> & Partial<GraphNode> & Position): boolean {
    if (this.nodes.length >= MAX_GRAPH_NODES) {
      this.truncated = true
      return false
    }
    this.nodes.push({ ...NOTHING, ...node })
    return true
  }

  steps(
    list: readonly Step[],
    owner: { id: string; parent: string; key: string; ordered: boolean; type: 'step' | 'hook' },
    positionOf: LocatedWorkflow['positionOf'],
  ): void {
    const keys = keysOf(owner.key, list)
    const ids = keysOf(owner.id, list)
    for (const [index, step] of list.entries()) {
      const [id = '', key = ''] = [ids[index], keys[index]]
      const inner = nestedSteps(step)
      const added = this.add({
        id,
        parent: owner.parent,
        type: owner.type,
        name: step.name,
        kind: step.type,
        description: short(step.description ?? ''),
        runner: step.step_runner ?? '',
        runner_at: runnerAt(step.step_runner_config),
        condition: short(step.pre_condition ?? ''),
        does: doesOf(step),
        depends_on: [...(step.depends_on ?? [])],
        parallel:
          step.parallel_steps !== undefined ||
          step.parallel_commands !== undefined ||
          step.parallel_functions !== undefined,
        on_success: actionTexts(step.on_success),
        on_error: actionTexts(step.on_error),
        timeout: step.timeout ?? '',
        attempts: step.retry?.attempts ?? 1,
        exports: Object.keys(step.exports ?? {}),
        ...positionOf(key),
      })
      if (!added) return
      this.steps(inner, { id, parent: id, key, ordered: false, type: owner.type }, positionOf)
    }
    this.#order(list, ids, owner.ordered)
    for (const [index, step] of list.entries()) this.#decision(list, ids, index, step, owner.parent)
  }

  modules(
    list: readonly ModuleRef[],
    root: LocatedWorkflow,
    modules: ReadonlyMap<string, LocatedWorkflow>,
  ): void {
    const keys = keysOf('modules', list)
    for (const [index, ref] of list.entries()) {
      const id = keys[index] ?? ''
      const own = (ref.steps ?? []).length > 0
      const file = own ? undefined : modules.get(ref.name)
      const { workflow } = file ?? {}
      const added = this.add({
        id,
        parent: ROOT,
        type: 'module',
        name: ref.name,
        kind: 'module',
        description: short(ref.description ?? workflow?.description ?? ''),
        runner: ref.runner ?? workflow?.runner ?? '',
        runner_at: runnerAt({ ...workflow?.runner_config, ...ref.runner_config }),
        condition: short(ref.condition ?? ''),
        does: own || ref.path === undefined ? [] : [short(ref.path)],
        tools: [...(workflow?.dependencies?.commands ?? [])],
        depends_on: [...(ref.depends_on ?? [])],
        parallel: isGraph(ref.steps ?? workflow?.steps ?? []),
        on_success: actionTexts(ref.on_success),
        on_error: actionTexts(ref.on_error),
        ...root.positionOf(id),
      })
      if (!added) return
      const owner = { parent: id, ordered: true }
      if (file === undefined)
        this.steps(
          ref.steps ?? [],
          { ...owner, id: `${id}/steps`, key: `${id}/steps`, type: 'step' },
          (key) => root.positionOf(key),
        )
      else this.parts(file, { ...owner, prefix: `${id}/` })
    }
    this.#order(list, keys, false)
  }

  /** The hooks and steps of a module. */
  parts(
    { workflow, positionOf }: LocatedWorkflow,
    { parent, prefix }: { parent: string; prefix: string },
  ): void {
    const list = (steps: readonly Step[] | undefined, key: string, type: 'step' | 'hook'): void =>
      this.steps(steps ?? [], { id: `${prefix}${key}`, parent, key, ordered: true, type }, positionOf)
    list(workflow.hooks?.pre_scan_steps, 'hooks/pre', 'hook')
    list(workflow.steps, 'steps', 'step')
    list(workflow.hooks?.post_scan_steps, 'hooks/post', 'hook')
  }

  /** Edges for the order of a list: by dependencies if one part has any, else one after the other. */
  #order(list: readonly { name: string; depends_on?: string[] }[], ids: readonly string[], inOrder: boolean) {
    const byName = new Map(list.map(({ name }, index) => [name, ids[index] ?? '']))
    const graph = isGraph(list)
    for (const [index, { depends_on: needs = [] }] of list.entries()) {
      const to = ids[index] ?? ''
      const before = ids[index - 1]
      if (graph)
        for (const from of new Set(needs.map((name) => byName.get(name))))
          if (from !== undefined) this.edges.push({ from, to, kind: 'depends', label: '' })
      if (!graph && inOrder && before !== undefined)
        this.edges.push({ from: before, to, kind: 'next', label: '' })
    }
  }

  #decision(list: readonly Step[], ids: readonly string[], index: number, step: Step, parent: string): void {
    if (step.decision === undefined) return
    for (const [label, { goto }] of branchesOf(step.decision)) {
      if (goto === undefined) continue
      const at = list.findLastIndex(({ name }) => name === goto)
      const to = goto === END ? this.#end(parent) : ids[at]
      if (to !== undefined) this.edges.push({ from: ids[index] ?? '', to, kind: 'goto', label: short(label) })
    }
  }

  /** The end of a list, for decisions that continue there. */
  #end(parent: string): string {
    const id = `${parent}/${END}`
    if (!this.#ends.has(id)) this.add({ id, parent, type: 'end', name: 'end', file: '', line: 0 })
    this.#ends.add(id)
    return id
  }
}

const ROOT = 'workflow'

const isGraph = (list: readonly { depends_on?: string[] }[]): boolean =>
  list.some(({ depends_on: needs = [] }) => needs.length > 0)

/** Draws a workflow. `modules`: the files of a flow by the name of their reference; others are drawn without parts. */
export const workflowGraph = (
  root: LocatedWorkflow,
  modules: ReadonlyMap<string, LocatedWorkflow> = new Map(),
): WorkflowGraph => {
  const drawing = new Drawing()
  const { workflow } = root
  drawing.add({
    id: ROOT,
    parent: '',
    type: 'workflow',
    name: workflow.name,
    kind: workflow.kind,
    description: short(workflow.description ?? ''),
    runner: workflow.runner ?? 'host',
    runner_at: runnerAt(workflow.runner_config),
    tools: [...(workflow.dependencies?.commands ?? [])],
    parallel: workflow.kind === 'flow' || isGraph(workflow.steps ?? []),
    ...root.positionOf(''),
  })
  if (workflow.kind === 'module') drawing.parts(root, { parent: ROOT, prefix: '' })
  else {
    drawing.parts({ ...root, workflow: { ...workflow, steps: [] } }, { parent: ROOT, prefix: '' })
    drawing.modules(workflow.modules ?? [], root, modules)
  }
  const known = new Set(drawing.nodes.map(({ id }) => id))
  const edges = drawing.edges.filter(({ from, to }) => known.has(from) && known.has(to))
  return { nodes: drawing.nodes, edges, truncated: drawing.truncated }
}
