import { readlink } from 'node:fs/promises'
import { join, normalize, resolve } from 'node:path'
import { pack, type Pack } from 'tar-stream'
import { RunnerUnavailableError, type RunnerContext } from '@scanfarm/contracts'
import { openBelow, partsBelow, realPath, RefusedPath, unless } from '@scanfarm/paths'
import { foldersOf } from '../run-folders.ts'
import { matchesAny } from '../wildcards.ts'

interface Volume {
  readonly text: string
  /** A folder of the engine's machine or the name of a volume; undefined: a new volume, removed with the container. */
  readonly source: string | undefined
  readonly target: string
  readonly readOnly: boolean
}

/** A volume that is below a folder of the run: a link in the container. */
export interface VolumeLink {
  readonly folder: string
  /** Its path in the folder. */
  readonly below: string
  readonly target: string
  readonly readOnly: boolean
}

export interface Volumes {
  /** The texts of the volumes that the engine mounts. */
  readonly binds: readonly string[]
  readonly links: readonly VolumeLink[]
}

/** What the engine mounts, and the shell that every container has. */
const PLACES_OF_THE_ENGINE = [
  '/bin/sh',
  '/dev',
  '/etc/hostname',
  '/etc/hosts',
  '/etc/resolv.conf',
  '/proc',
  '/sbin/docker-init',
  '/sys',
]

/**
 * Decides how the volumes get into a container. Refuses those that are not in the list. An entry is the name of a volume
 * or a folder; `*` is a wildcard, and `:ro` at the end allows reading only, also of everything below the folder. The
 * run's own folders are always allowed.
 *
 * The engine finds what it mounts by its name, as root. In a folder that containers may write to, commands can replace
 * each part of the name with a link at any moment, so nothing is mounted that the engine finds there. Below a folder of
 * the run, the engine mounts only the folder of the run itself, and the volume is a link inside the container: wherever
 * it leads, it leads to files of the container. Missing folders are made.
 */
export async function planVolumes(
  texts: readonly string[],
  allowed: readonly string[],
  context: RunnerContext,
): Promise<Volumes> {
  const volumes = texts.map(readVolume)
  const binds: string[] = []
  const links: VolumeLink[] = []
  for (const volume of volumes) {
    const { real, lookups } = await wayTo(volume.source)
    const own = pathInFolder(volume.source, context) ?? pathInFolder(real, context)
    if (own === undefined) {
      refuseReplaceable(volume, lookups, allowed, context)
      refuseForbidden(volume, real, allowed)
    }
    if (own === undefined || own.below === '') {
      binds.push(volume.text)
      continue
    }
    refuseTarget(volume, [
      ...PLACES_OF_THE_ENGINE,
      ...foldersOf(context),
      ...volumes.filter((other) => other !== volume).map(({ target }) => target),
    ])
    await makeFolder(volume, join(own.folder, own.below), context)
    links.push({ ...own, target: volume.target, readOnly: volume.readOnly })
  }
  return { binds, links }
}

/** Where folders of the run are mounted again, for links that allow only reading. */
const READ_ONLY = '/.scanfarm-read-only'

const folderOf = ({ folder, readOnly }: VolumeLink): string => (readOnly ? `${READ_ONLY}${folder}` : folder)

/** The folders of the run that must be mounted, by their place in the container. */
export const readOnlyFolders = (links: readonly VolumeLink[]): ReadonlyMap<string, string> =>
  new Map(links.filter(({ readOnly }) => readOnly).map((link) => [folderOf(link), link.folder]))

/** A tar stream of the links. `mounted`: whether the folders of the run are, else the stream makes their targets. */
export function packLinks(links: readonly VolumeLink[], mounted: boolean): Pack {
  const stream = pack()
  for (const link of links) {
    const path = join(mounted ? folderOf(link) : link.folder, link.below)
    if (!mounted) stream.entry({ name: `${path.slice(1)}/`, type: 'directory', mode: 0o777 })
    stream.entry({ name: link.target.slice(1), type: 'symlink', linkname: path })
  }
  stream.finalize()
  return stream
}

/** Whether a volume is inside the folders: then some of their files do not belong to the run. */
export const containsVolume = (folders: readonly string[], { binds }: Volumes): boolean =>
  binds.some((text) => folders.some((folder) => partsBelow(folder, readVolume(text).target) !== undefined))

function readVolume(text: string): Volume {
  const [first = '', target = first, options = '', ...rest] = text.split(':')
  const bad = (why: string): RunnerUnavailableError => invalid(text, why)
  if (rest.length > 0 || first === '') throw bad('expected source:target or source:target:ro')
  if (!target.startsWith('/')) throw bad('its target must be an absolute path')
  if (first.includes('/') && !first.startsWith('/'))
    throw bad('its source must be an absolute path or the name of a volume')
  return {
    text,
    source: text.includes(':') ? plainPath(first) : undefined,
    target: plainPath(target),
    readOnly: options.split(',').includes('ro'),
  }
}

const invalid = (text: string, why: string): RunnerUnavailableError =>
  new RunnerUnavailableError(`the volume ${JSON.stringify(text)} is invalid: ${why}`)

/** Names of volumes stay as they are. */
const plainPath = (path: string): string =>
  path.startsWith('/') ? normalize(path).replace(/(?<=.)\/$/, '') : path

/** Where a path is in a folder of the run, by the name or by the real path of this folder. */
const pathInFolder = (
  path: string | undefined,
  context: RunnerContext,
): Pick<VolumeLink, 'folder' | 'below'> | undefined => {
  if (path?.startsWith('/') !== true) return undefined
  for (const folder of foldersOf(context))
    for (const root of [folder, realPath(folder)]) {
      const below = partsBelow(root, path)?.join('/')
      if (below !== undefined) return { folder, below }
    }
  return undefined
}

/** `real`: the source without links, since a run may have created them. */
function refuseForbidden(
  { text, source, readOnly }: Volume,
  real: string | undefined,
  allowed: readonly string[],
): void {
  if (source === undefined || real === undefined) return
  if ([...new Set([source, real])].every((one) => isAllowed(one, readOnly, allowed))) return
  const shown = real === source ? source : `${source} (which resolves to ${real})`
  throw new RunnerUnavailableError(
    isAllowed(real, true, allowed)
      ? `the volume ${shown} may only be mounted read-only: write ${text}:ro`
      : `the volume ${shown} is not allowed by runner.docker_volumes`,
  )
}

/** With the entry `*` all volumes are allowed, so that nothing is gained by a link. */
function refuseReplaceable(
  { text }: Volume,
  lookups: readonly string[],
  allowed: readonly string[],
  context: RunnerContext,
): void {
  if (allowed.includes('*')) return
  const written = lookups.find(
    (folder) => isAllowed(folder, false, allowed) || pathInFolder(folder, context) !== undefined,
  )
  if (written === undefined) return
  throw new RunnerUnavailableError(
    `the volume ${text} is below ${written}, where containers may write and could replace it with a link: mount ${written}, or list it with :ro, or only folders below it, in runner.docker_volumes`,
  )
}

/** The link replaces what the image has at the target; it must not replace or lead to a mount. */
function refuseTarget({ text, target }: Volume, places: readonly string[]): void {
  const taken = places.find(
    (place) => partsBelow(place, target) !== undefined || partsBelow(target, place) !== undefined,
  )
  if (taken !== undefined)
    throw invalid(
      text,
      `its source is below a folder of the run, and such a volume must have a target that is not part of ${taken} and does not contain it`,
    )
}

async function makeFolder({ text }: Volume, path: string, context: RunnerContext): Promise<void> {
  try {
    const { owner } = context
    const { folder } = await openBelow(join(path, 'entry'), foldersOf(context), { make: { owner } })
    folder[Symbol.dispose]()
  } catch (error) {
    if (error instanceof RefusedPath)
      throw new RunnerUnavailableError(
        `the volume ${text} leads out of the folders of the run: name the folder that it leads to`,
        { cause: error },
      )
    // It is a file, or in a folder that only users of containers may enter.
    unless(['ENOTDIR', 'EACCES'], () => {})(error)
  }
}

/** As many as the kernel follows. */
const MAX_LINKS = 40

interface Way {
  /** The source without links. */
  readonly real: string | undefined
  /** The folders in which the parts of its name, and of the links in it, are looked up. */
  readonly lookups: readonly string[]
}

async function wayTo(source: string | undefined): Promise<Way> {
  if (source?.startsWith('/') !== true) return { real: source, lookups: [] }
  const lookups: string[] = []
  let at = '/'
  let parts = source.split('/')
  for (let links = 0; parts.length > 0;) {
    const [part = '', ...rest] = parts
    const next = resolve(at, part)
    const link = next === at ? undefined : await readlink(next).catch(() => undefined)
    if (next !== at) lookups.push(at)
    if (link !== undefined && ++links > MAX_LINKS)
      throw new RunnerUnavailableError(`the volume ${source} leads through more than ${MAX_LINKS} links`)
    if (link?.startsWith('/') === true) at = '/'
    if (link === undefined) at = next
    parts = link === undefined ? rest : [...link.split('/'), ...rest]
  }
  return { real: at, lookups }
}

const isAllowed = (source: string, readOnly: boolean, allowed: readonly string[]): boolean =>
  matchesAny(
    allowed.flatMap((entry) => {
      if (entry.endsWith(':ro') && !readOnly) return []
      const path = entry.replace(/:ro$/, '').replace(/(?<=.)\/$/, '')
      return entry.endsWith(':ro') && path.startsWith('/') ? [path, join(path, '*')] : [path]
    }),
    [source],
  )
