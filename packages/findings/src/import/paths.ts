import { valueOr } from '@scanfarm/contracts'
import type { Imported } from './read-body.ts'

export const decoded = (text: string): string => valueOr(() => decodeURIComponent(text), text)

const SCHEME = /^[a-z][a-z0-9+.-]+:/i
export const isAbsolute = (path: string): boolean => /^(?:\/|[A-Za-z]:\/)/.test(path)

/** The path of a file in one spelling: without `file://`, percent-decoded, with `/`. Other URIs stay as they are. */
export const pathOf = (uri: string): string => {
  if (SCHEME.test(uri) && !/^file:/i.test(uri)) return uri
  const bare = /^file:/i.test(uri) ? uri.replace(/^file:(?:\/\/(?!\.{1,2}\/)[^/]*|\/\/)?/i, '') : uri
  const path = decoded(bare).normalize('NFC')
  const isWindows = !path.includes('/') || /^\/?[A-Za-z]:/.test(path)
  const slashed = (isWindows ? path.replaceAll('\\', '/') : path)
    .replace(/^\/?([A-Za-z]):(?=\/)/, (_, drive: string) => `${drive.toUpperCase()}:`)
    .replaceAll(/(?<=[^:])\/{2,}/g, '/')
    .replaceAll(/\/(?:\.\/)+/g, '/')
    .replace(/^(?:\.\/)+(?=.)/, '')
    // A link to a line.
    .replace(/#L\d+(?:[-C].*)?$/, '')
  return withoutParents(slashed)
}

/** `a/../b` is `b`. */
export const withoutParents = (path: string): string => {
  if (!path.includes('/../')) return path
  const parts: string[] = []
  for (const part of path.split('/'))
    if (part === '..' && !['..', '', undefined].includes(parts.at(-1))) parts.pop()
    else parts.push(part)
  return parts.join('/')
}

const SERVER = /^([a-z][a-z0-9+.-]*:\/\/)?([^/?#\s]*@)?([^/?#\s]+)/i

/** A host, `host:port` or URL with its host in lower case, and without the dot that ends a whole name. */
export const spelled = (place: string): string =>
  place.replace(SERVER, (_, scheme: string | undefined, user: string | undefined, host: string) =>
    [scheme?.toLowerCase(), user, host.toLowerCase().replace(/\.(?=:\d+$|$)/, '')].join(''),
  )

/** A path in an image or archive, which another one may have too. */
export const inArtifact = (artifact: string, path: string): string =>
  artifact === '' || path === '' ? artifact || path : `${artifact}:/${path.replace(/^\//, '')}`

/** The path below a folder; undefined if it is not there. */
export const below = (path: string, folder: string): string | undefined => {
  const start = folder.endsWith('/') ? folder : `${folder}/`
  return folder !== '' && path.startsWith(start) && path.length > start.length
    ? path.slice(start.length)
    : undefined
}

/** Enough paths to tell the folder by those that a report also has as relative ones. */
const MAX_PATHS = 10_000

/**
 * Makes the paths of a report relative to the folder that was scanned: one that is named, or else the folder that all
 * absolute paths of the report have in common. Of a report that also has relative paths it is the folder in which an
 * absolute path is one of them.
 */
export class ScannedFolder {
  /** The parts of the folder that all absolute paths have in common. */
  #common: string[] | undefined
  readonly #absolute = new Set<string>()
  readonly #relative = new Set<string>()
  #own: string | undefined

  /** To be called with each path of the report before `relative`. */
  add(path: string): void {
    const isWhole = isAbsolute(path)
    if (!isWhole && (path === '' || SCHEME.test(path))) return
    const paths = isWhole ? this.#absolute : this.#relative
    if (paths.size < MAX_PATHS) paths.add(path)
    if (!isWhole) return
    const parts = path.split('/').slice(0, -1)
    const known = this.#common ?? parts
    const differ = known.findIndex((part, at) => part !== parts[at])
    this.#common = differ < 0 ? known : known.slice(0, differ)
  }

  /** The folder that all paths have in common; nothing if the report names no path, or also relative ones. */
  *found(): Generator<Imported> {
    if (this.#common !== undefined && this.#relative.size === 0)
      yield { kind: 'folder', folder: this.#common.join('/') }
  }

  relative(path: string, folders: readonly string[]): string {
    if (!isAbsolute(path)) return path
    this.#own ??= this.#relative.size === 0 ? (this.#common?.join('/') ?? '') : this.#ofRelative()
    for (const folder of [...folders, this.#own]) {
      const inside = below(path, folder)
      if (inside !== undefined) return inside
    }
    return path
  }

  /** `/ci/x` of `/ci/x/src/a.py` and `src/a.py`. A name without a folder may be that of another file elsewhere. */
  #ofRelative(): string {
    const tried = new Set<string>()
    const hasAll = (folder: string): boolean =>
      !tried.has(folder) && [...this.#absolute].every((one) => below(one, folder))
    for (const path of this.#absolute)
      for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
        const [folder, inside] = [path.slice(0, end), path.slice(end + 1)]
        if (!this.#relative.has(inside)) continue
        if (inside.includes('/') || hasAll(folder)) return folder
        tried.add(folder)
      }
    return ''
  }
}
