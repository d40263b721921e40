import { constants } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { NoResult, type FunctionContext, type Run, type Call } from '../define.ts'
import { removeFile, removeTree } from '../paths/remove.ts'
import { checkPath, openFile } from '../paths/run-folder.ts'
import { isThere, kindOf, makeFolder, mustBeFile, programPath } from './files.ts'
import { must } from './must.ts'

/** A path as `tar` and `zip` store it: as written by the author, relative to the run's folder. */
const asWritten = async (context: Call): Promise<string> => {
  const path = await programPath(context, 0)
  if (!(await isThere(path, context))) throw new NoResult(`${path} does not exist`)
  const text = context.text(0).trim()
  return isAbsolute(text) ? path : `./${text}`
}

export const zip: Run = async (context) => {
  const dest = await programPath(context, 1, 'write')
  const source = await asWritten(context)
  await makeFolder(dirname(dest), context)
  await must(context, ['zip', '-q', '-r', dest, source], context.folders.output)
}

/** The content of a folder is at the top level of the archive; a file is its only entry. */
export const zipContents: Run = async (context) => {
  const [source, dest] = [await programPath(context, 0), await programPath(context, 1, 'write')]
  const kind = await kindOf(source, context)
  if (kind === undefined) throw new NoResult(`${source} does not exist`)
  await makeFolder(dirname(dest), context)
  // zip would add to an existing archive.
  await removeFile(dest, context)
  await (kind === 'folder'
    ? must(context, ['zip', '-q', '-r', dest, '.'], source)
    : must(context, ['zip', '-q', dest, `./${basename(source)}`], dirname(source)))
}

type Unpack = (archive: string, dest: string) => readonly string[]

/** A file that is compressed alone. */
const decompressed =
  (program: string, ending: string): Unpack =>
  (archive, dest) => {
    const script = `${program} -dc -- "$0" > "$1"`
    return ['/bin/sh', '-c', script, archive, join(dest, basename(archive, ending))]
  }

const UNPACK: readonly (readonly [RegExp, Unpack])[] = [
  [/\.zip$/i, (archive, dest) => ['unzip', '-q', '-o', archive, '-d', dest]],
  [
    /\.(tar|tar\.\w+|tgz|tbz2?|txz)$/i,
    (archive, dest) => ['tar', '-x', '--no-same-owner', '-f', archive, '-C', dest],
  ],
  [/\.gz$/i, decompressed('gzip', '.gz')],
  [/\.bz2$/i, decompressed('bzip2', '.bz2')],
  [/\.xz$/i, decompressed('xz', '.xz')],
  [/\.(7z|rar)$/i, (archive, dest) => ['7z', 'x', '-y', `-o${dest}`, archive]],
]

/** The first bytes of archives, to detect the type if the name does not show it. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['504b0304', '.zip'],
  ['1f8b', '.tar.gz'],
  ['425a', '.tar.bz2'],
  ['fd377a585a00', '.tar.xz'],
]

const unpackOf = async (archive: string, context: FunctionContext) => {
  const byName = UNPACK.find(([name]) => name.test(archive))?.[1]
  if (byName !== undefined) return byName
  await using file = await openFile(archive, context, constants.O_RDONLY)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(6))
  const bytes = buffer.toString('hex', 0, bytesRead)
  const [, name = ''] = BEGINNINGS.find(([start]) => bytes.startsWith(start)) ?? []
  return UNPACK.find(([pattern]) => pattern.test(name))?.[1]
}

export const extract =
  (clean: boolean): Run =>
  async (context) => {
    const archive = await programPath(context, 0)
    const beside = context.text(1) === ''
    const dest = beside ? dirname(archive) : context.path(1)
    await checkPath(dest, context, 'write')
    await mustBeFile(archive, context)
    const unpack = await unpackOf(archive, context)
    if (unpack === undefined) throw new NoResult(`${basename(archive)} is not an archive of a known type`)
    if (clean && !beside) await removeTree(dest, context)
    await makeFolder(dest, context)
    await must(context, unpack(archive, dest))
  }

export const tar: Run = async (context) => {
  const dest = await programPath(context, 1, 'write')
  const source = await asWritten(context)
  await makeFolder(dirname(dest), context)
  const compress = /\.(tbz2?|bz2)$/.test(dest) ? '-j' : /\.(txz|xz)$/.test(dest) ? '-J' : '-z'
  await must(context, ['tar', '-c', compress, '-f', dest, '--', source], context.folders.output)
}
