import { randomBytes } from 'node:crypto'
import type { CreateRuns, Warnings } from '@scanfarm/contracts'
import { needsTarget } from '@scanfarm/workflow'
import type { Pinned } from '../catalog/catalog.ts'
import type { Gathered } from './gather-targets.ts'
import { workspaceFor } from './workspace-name.ts'

const PLACEHOLDER_BYTES = 4

/**
 * The one run of a request that names no target: without one where the workflow needs none. Where it does, its commands
 * must not run with "" in place of a target (a path would become another one): `empty_target` gives them a name that
 * stands for nothing, as the established server does. Undefined: the request names targets, or has to.
 */
export const withoutTarget = (
  body: CreateRuns,
  { resolved }: Pinned,
): { readonly gathered: Gathered; readonly warnings: Warnings } | undefined => {
  const { target, targets, target_file: file, empty_target: empty, workspace } = body
  const named = targets !== undefined || file !== undefined || (target ?? '').trim() !== ''
  if (named) return undefined
  const needed = needsTarget(resolved)
  if (needed && empty !== true) return undefined
  const name = needed ? `empty-${randomBytes(PLACEHOLDER_BYTES).toString('hex')}` : ''
  const drafts = [{ target: name, workspace: workspace ?? workspaceFor(name, resolved.root.name) }]
  return {
    gathered: { count: 1, dropped: 0, targets: [name], drafts },
    warnings: needed
      ? [
          {
            field: 'empty_target',
            message: `${resolved.root.name} uses its target: ${name} stands in for it`,
          },
        ]
      : [],
  }
}
