import type { Param, Step, Workflow } from '../model.ts'

const inner = (step: Partial<Step>, fallback: string): Step => {
  const name = step.name ?? fallback
  return {
    ...step,
    name,
    type: step.type ?? 'bash',
    ...(step.step === undefined ? {} : { step: inner(step.step, `${name}-item`) }),
    ...(step.parallel_steps === undefined
      ? {}
      : { parallel_steps: step.parallel_steps.map((child, index) => inner(child, `${name}-${index + 1}`)) }),
  }
}

const stepList = (steps: Step[], prefix: string): Step[] =>
  steps.map((step, index) => inner(step, `${prefix}-${index + 1}`))

/** `value` is an older name of `default`. */
const param = ({ value, ...rest }: Param): Param =>
  value === undefined || rest.default !== undefined ? rest : { ...rest, default: value }

/** Fills in defaults: names of nested steps, the type of hooks, missing lists. */
export const withDefaults = (read: Partial<Workflow>): Workflow => ({
  ...read,
  kind: read.kind ?? 'module',
  name: read.name ?? '',
  ...(read.params === undefined ? {} : { params: read.params.map(param) }),
  ...(read.steps === undefined ? {} : { steps: stepList(read.steps, 'step') }),
  ...(read.modules === undefined
    ? {}
    : {
        modules: read.modules.map((ref) =>
          ref.steps === undefined ? ref : { ...ref, steps: stepList(ref.steps, 'step') },
        ),
      }),
  ...(read.hooks === undefined
    ? {}
    : {
        hooks: {
          pre_scan_steps: stepList(read.hooks.pre_scan_steps ?? [], 'pre-hook'),
          post_scan_steps: stepList(read.hooks.post_scan_steps ?? [], 'post-hook'),
        },
      }),
})
