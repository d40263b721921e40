import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Param, Workflow } from '../model.ts'
import { authorTexts, type AuthorText } from './texts.ts'

/** `TargetSpace` names the workspace, which every run has. */
const TARGET_VARIABLE = /(?<![\w.])(?:Target(?!Space\b)\w*|target|Org)(?!\w)/g
const TARGET_IN_ENVIRONMENT = /\$\{?SCANFARM_TARGET\b/
const TEMPLATE = /\{\{.*?\}\}|\{%.*?%\}/gs

const usesTarget = ({ text, kind, names }: AuthorText, own: string | undefined): boolean => {
  if (kind === 'shell' && TARGET_IN_ENVIRONMENT.test(text)) return true
  const code = kind === 'expression' || kind === 'export' ? [text] : (text.match(TEMPLATE) ?? [])
  const used = code.flatMap((part) => part.match(TARGET_VARIABLE) ?? [])
  return used.some((name) => name !== own && !names.includes(name))
}

const isTarget = (name = ''): boolean => /^target$/i.test(name)

const hasValue = ({ default: value, generator = '' }: Param): boolean =>
  (value !== undefined && value !== null && value !== '') || generator !== ''

const asksForTarget = (workflow: Workflow): boolean => {
  const { params = [], dependencies = {} } = workflow
  const ownTarget = params.find(({ name }) => isTarget(name))
  if (ownTarget !== undefined && !hasValue(ownTarget)) return true
  // A default sets only this param; all other variables that are derived from the target stay empty.
  const own = ownTarget?.name
  return (
    (dependencies.target_types ?? []).length > 0 ||
    (dependencies.variables ?? []).some(({ name }) => isTarget(name) && name !== own) ||
    textsUseTarget(workflow, own)
  )
}

/** A cheap test first: most workflows use the target in their first steps or not at all. */
const textsUseTarget = (workflow: Workflow, own: string | undefined): boolean => {
  if (!/target|\bOrg\b/i.test(JSON.stringify(workflow))) return false
  for (const text of authorTexts(workflow)) if (usesTarget(text, own)) return true
  return false
}

const known = new WeakMap<ResolvedWorkflow, boolean>()

/**
 * Whether a run of the workflow needs a target. `preferences.empty_target` decides if it is set;
 * otherwise every use of a variable that is derived from the target counts.
 */
export const needsTarget = (resolved: ResolvedWorkflow): boolean => {
  const { root, modules } = resolved
  const needed =
    known.get(resolved) ??
    (root.preferences?.empty_target !== true && [root, ...Object.values(modules)].some(asksForTarget))
  known.set(resolved, needed)
  return needed
}
