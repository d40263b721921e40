import type { Param, Step, Workflow } from '../model.ts'

const inner = (step: Partial<Step>, fallback: string): Step => {
  const name = step.name ?? fallback
  const { step: item, parallel_steps: children } = step
  return {
    ...step,
    name,
    type: step.type ?? 'bash',
    ...(item && { step: inner(item, `${name}-item`) }),
    ...(children && { parallel_steps: stepList(children, name) }),
  }
}

const stepList = (steps: Step[], prefix: string): Step[] =>
  steps.map((step, index) => inner(step, `${prefix}-${index + 1}`))

/** `value` is an older name of `default`. */
const param = ({ value, ...rest }: Param): Param =>
  value === undefined || rest.default !== undefined ? rest : { ...rest, default: value }

/** Fills in defaults: names of nested steps, the type of hooks, missing lists. */
export const withDefaults = (read: Partial<Workflow>): Workflow => {
  const { params, steps, modules, hooks } = read
  return {
    ...read,
    kind: read.kind ?? 'module',
    name: read.name ?? '',
    ...(params && { params: params.map(param) }),
    ...(steps && { steps: stepList(steps, 'step') }),
    ...(modules && {
      modules: modules.map((ref) => (ref.steps ? { ...ref, steps: stepList(ref.steps, 'step') } : ref)),
    }),
    ...(hooks && {
      hooks: {
        pre_scan_steps: stepList(hooks.pre_scan_steps ?? [], 'pre-hook'),
        post_scan_steps: stepList(hooks.post_scan_steps ?? [], 'post-hook'),
      },
    }),
  }
}
