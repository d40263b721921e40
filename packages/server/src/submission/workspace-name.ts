import { hash } from 'node:crypto'
import { withoutPassword } from '@scanfarm/contracts'

const MAX_LENGTH = 128
const HASH_CHARS = 12
const LOOKS_HASHED = /-[0-9a-f]{12}$/

/**
 * The default workspace of a target: the target itself if it is a valid folder name, otherwise a sanitised form with a
 * hash. Every run of a target has the same workspace, and different targets have different ones: a target that looks
 * like a hashed name gets a hash as well. Passwords are not part of the name.
 */
export const workspaceOf = (text: string): string => {
  const target = withoutPassword(text)
  const safe = target
    .replace(/^[a-z][a-z0-9+.-]*:\/\/|^uploads\/[0-9a-f]{16}-/i, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
  if (safe === target && safe.length <= MAX_LENGTH && !LOOKS_HASHED.test(safe)) return safe
  const suffix = hash('sha256', target).slice(0, HASH_CHARS)
  return `${safe.slice(0, MAX_LENGTH - HASH_CHARS - 1) || 'target'}-${suffix}`
}

/** A run without a target uses the workspace of its workflow. */
export const workspaceFor = (target: string, workflowName: string): string =>
  workspaceOf(target === '' ? workflowName : target)
