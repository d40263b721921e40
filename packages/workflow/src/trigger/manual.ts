import type { Workflow } from '../model.ts'

/**
 * Why people may not start this workflow, which its author says by a manual trigger with `enabled: false`; events and
 * schedules may all the same. Undefined: they may.
 */
export const manualRefusal = ({ name, kind, triggers = [] }: Workflow): string | undefined => {
  const gates = triggers.filter(({ on }) => on === 'manual')
  if (gates.length === 0 || gates.some(({ enabled }) => enabled !== false)) return undefined
  return `Manual trigger is disabled for this ${kind}: the workflow "${name}" starts by its other triggers only; set enabled: true on its manual trigger to start it by hand`
}
