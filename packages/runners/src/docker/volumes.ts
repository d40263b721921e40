import { realpath } from 'node:fs/promises'
import { normalize } from 'node:path'
import { RunnerUnavailableError, type RunnerContext } from '@scanfarm/contracts'
import { foldersOf } from '../run-folders.ts'
import { isListed } from '../listed.ts'

interface Volume {
  /** Folder of the engine's machine, or name of one of the engine's volumes; none: a new one, which goes with the container. */
  readonly source: string | undefined
  readonly readOnly: boolean
}

/**
 * Refuses volumes that the list does not allow: an entry is a folder with all inside it, or the name of a volume, with
 * `*` as wildcard; with `:ro` behind it, for reading only. The run's own folders are always allowed. Where a source
 * exists on this machine, links in it are followed first: a run may have put them there.
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
    const shown = real === source ? source : `${source} (really ${real})`
    throw new RunnerUnavailableError(
      isAllowed(real, true, allowed)
        ? `the volume ${shown} may only be read: write ${text}:ro`
        : `the volume ${shown} is not among those that the settings allow: runner.docker_volumes names them`,
    )
  }
}

function readVolume(text: string): Volume {
  const [first = '', target, options = '', ...rest] = text.split(':')
  const bad = (why: string): RunnerUnavailableError =>
    new RunnerUnavailableError(`the volume ${JSON.stringify(text)} cannot be used: ${why}`)
  if (rest.length > 0 || first === '') throw bad('write source:target or source:target:ro')
  if (!(target ?? first).startsWith('/')) throw bad('its place in the container must be an absolute path')
  if (target === undefined) return { source: undefined, readOnly: false }
  if (first.includes('/') && !first.startsWith('/'))
    throw bad('its source must be an absolute path or the name of a volume')
  const source = first.startsWith('/') ? normalize(first).replace(/(?<=.)\/$/, '') : first
  return { source, readOnly: options.split(',').includes('ro') }
}

const realFolder = (folder: string): Promise<string> => realpath(folder).catch(() => folder)

const isAllowed = (source: string, readOnly: boolean, allowed: readonly string[]): boolean =>
  isListed(
    allowed.flatMap((entry) => {
      if (entry.endsWith(':ro') && !readOnly) return []
      const place = entry.replace(/:ro$/, '').replace(/(?<=.)\/$/, '')
      return place.startsWith('/') ? [place, place === '/' ? '/*' : `${place}/*`] : [place]
    }),
    [source],
  )
