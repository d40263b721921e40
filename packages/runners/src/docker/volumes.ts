import { realpath } from 'node:fs/promises'
import { normalize } from 'node:path'
import { RunnerUnavailableError, type RunnerContext } from '@scanfarm/contracts'
import { foldersOf } from '../run-folders.ts'
import { matchesAny } from '../wildcards.ts'

interface Volume {
  /** A folder of the engine's machine or the name of a volume; undefined: a new volume, removed with the container. */
  readonly source: string | undefined
  readonly readOnly: boolean
}

/**
 * Refuses volumes that are not in the list. An entry is a folder, which includes everything below it, or the name of a
 * volume; `*` is a wildcard, and `:ro` at the end allows reading only. The run's own folders are always allowed. If a
 * source exists on this machine, its links are resolved first, because a run may have created them.
 */
export async function refuseVolumes(
  volumes: readonly string[],
  allowed: readonly string[],
  context: RunnerContext,
): Promise<void> {
  for (const text of volumes) {
    const { source, readOnly } = readVolume(text)
    if (source === undefined) continue
    const real = source.startsWith('/') ? await realpath(source).catch(() => source) : source
    const own = real.startsWith('/') ? await Promise.all(foldersOf(context).map(realFolder)) : []
    if ([...new Set([source, real])].every((one) => isAllowed(one, readOnly, [...own, ...allowed]))) continue
    const shown = real === source ? source : `${source} (which resolves to ${real})`
    throw new RunnerUnavailableError(
      isAllowed(real, true, allowed)
        ? `the volume ${shown} may only be mounted read-only: write ${text}:ro`
        : `the volume ${shown} is not allowed by runner.docker_volumes`,
    )
  }
}

function readVolume(text: string): Volume {
  const [first = '', target, options = '', ...rest] = text.split(':')
  const bad = (why: string): RunnerUnavailableError =>
    new RunnerUnavailableError(`the volume ${JSON.stringify(text)} is invalid: ${why}`)
  if (rest.length > 0 || first === '') throw bad('expected source:target or source:target:ro')
  if (!(target ?? first).startsWith('/')) throw bad('its target must be an absolute path')
  if (target === undefined) return { source: undefined, readOnly: false }
  if (first.includes('/') && !first.startsWith('/'))
    throw bad('its source must be an absolute path or the name of a volume')
  const source = first.startsWith('/') ? normalize(first).replace(/(?<=.)\/$/, '') : first
  return { source, readOnly: options.split(',').includes('ro') }
}

const realFolder = (folder: string): Promise<string> => realpath(folder).catch(() => folder)

const isAllowed = (source: string, readOnly: boolean, allowed: readonly string[]): boolean =>
  matchesAny(
    allowed.flatMap((entry) => {
      if (entry.endsWith(':ro') && !readOnly) return []
      const path = entry.replace(/:ro$/, '').replace(/(?<=.)\/$/, '')
      return path.startsWith('/') ? [path, path === '/' ? '/*' : `${path}/*`] : [path]
    }),
    [source],
  )
