import { execFile } from 'node:child_process'
import { access, constants, lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CloudError } from '../../provider.ts'
import { IMAGE_DATA, IMAGE_FOLDERS, IMAGE_PROGRAMS, IMAGE_TEXTS, NEEDED_PROGRAMS } from './image-contents.ts'

/** An entry of the image. `path` is absolute. */
export type ImageFile = { readonly path: string; readonly mode: number } & (
  | { readonly kind: 'folder' }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'text'; readonly text: string }
  /** A copy of a file of this system. */
  | { readonly kind: 'copy'; readonly from: string; readonly size: number; readonly mtimeMs: number }
)

const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/local/sbin']
/** Links on some systems, folders on others. Programs find their libraries through them. */
const FOLDER_LINKS = ['/bin', '/lib', '/lib32', '/lib64', '/sbin']
const MOST_FILES = 10_000
const LDD_TIMEOUT_MS = 30_000
const LDD_BYTES = 4 * 1024 * 1024

/**
 * The files that a machine needs for ssh and shell commands, taken from this system, sorted by path; no registry is needed.
 * Refuses when a required program is missing.
 */
export async function collectImageFiles(folders: readonly string[] = PROGRAM_FOLDERS): Promise<ImageFile[]> {
  const found = new Map<string, ImageFile>()
  const add = (file: ImageFile): void => void found.set(file.path, file)
  for (const [path, mode] of Object.entries(IMAGE_FOLDERS)) add({ path, mode, kind: 'folder' })
  for (const path of FOLDER_LINKS) await addFolderLink(path, add)
  for (const [path, text] of Object.entries(IMAGE_TEXTS))
    add({ path, mode: modeOf(path), kind: 'text', text })
  const data = await allFiles(IMAGE_DATA)
  const programs = [...(await findPrograms(folders)), ...data.filter((path) => path.includes('/sshd-'))]
  for (const path of [...programs, ...(await librariesOf(programs)), ...data]) await addCopy(path, add)
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

const modeOf = (path: string): number => (path === '/etc/shadow' ? 0o600 : 0o644)

const exists = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

/** Refuses with the names of missing programs. */
export async function findPrograms(folders: readonly string[] = PROGRAM_FOLDERS): Promise<string[]> {
  if (process.platform !== 'linux')
    throw new CloudError(
      'refused',
      'the image of local machines can only be built on Linux: set local=IMAGE in cloud.images to an image with sshd',
    )
  const found = new Map<string, string>()
  for (const name of [...NEEDED_PROGRAMS, ...IMAGE_PROGRAMS])
    for (const path of folders.map((folder) => join(folder, name)))
      if (!found.has(name) && (await exists(path, constants.X_OK))) found.set(name, path)
  const missing = NEEDED_PROGRAMS.filter((name) => !found.has(name))
  if (missing.length === 0) return [...found.values()]
  throw new CloudError(
    'refused',
    `the image of local machines is built from this system's programs, and ${missing.join(', ')} is missing: ` +
      'install it (Debian: apt-get install openssh-server) or set local=IMAGE in cloud.images to an image that has it',
  )
}

async function addFolderLink(path: string, add: (file: ImageFile) => void): Promise<void> {
  const facts = await lstat(path).catch(() => undefined)
  if (facts?.isSymbolicLink()) add({ path, mode: 0o777, kind: 'link', to: await readlink(path) })
}

/** At the real path of the folder. A link is replaced by a copy of its target. */
async function addCopy(path: string, add: (file: ImageFile) => void): Promise<void> {
  const { size, mtimeMs, mode } = await stat(path)
  const placed = join(await realpath(dirname(path)), basename(path))
  add({ path: placed, mode: mode & 0o755, kind: 'copy', from: path, size, mtimeMs })
}

/** Shared libraries and the loader. `ldd` fails for scripts, after it has listed the others. */
function librariesOf(programs: readonly string[]): Promise<string[]> {
  const limits = { timeout: LDD_TIMEOUT_MS, maxBuffer: LDD_BYTES }
  return new Promise((resolve) => {
    execFile('ldd', [...programs], limits, (_, output) => {
      const paths = [...output.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm)].map(([, path]) => path ?? '')
      resolve([...new Set(paths)])
    })
  })
}

/** The files among these paths and in these folders. Missing and unreadable files are left out. */
async function allFiles(paths: readonly string[]): Promise<string[]> {
  const files: string[] = []
  const left = [...paths]
  for (let path = left.pop(); path !== undefined && files.length < MOST_FILES; path = left.pop()) {
    const facts = await stat(path).catch(() => undefined)
    if (facts?.isDirectory()) {
      const folder = path
      left.push(...(await readdir(folder)).map((name) => join(folder, name)))
    } else if (facts?.isFile() && (await exists(path, constants.R_OK))) files.push(path)
  }
  return files
}
