import { valueOr } from '@scanfarm/contracts'
import { execFileSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { errorText } from '@scanfarm/platform'

/** Isolates commands of a program without root by namespaces that bubblewrap creates. */
export interface Sandbox extends SandboxPaths {
  readonly program: string
  /** Options that this version of the program supports. */
  readonly extra: readonly string[]
}

/** Each path includes everything below it; the deepest path that contains a file decides. */
export interface SandboxPaths {
  /** Commands cannot see it. */
  readonly hidden: readonly string[]
  /** Commands may read it although it is below a hidden path. */
  readonly visible: readonly string[]
  /** Commands may also write to it if this program may. */
  readonly writable: readonly string[]
}

interface Mount {
  readonly path: string
  readonly options: readonly string[]
}

/** Folders where every user may create files, and where services of a user listen. */
const ALWAYS_HIDDEN = ['/tmp', '/var/tmp', '/run/user']
/** Own user, process and IPC namespaces; no capabilities, and no way to regain any. */
const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL']
const BASE = [...NAMESPACES, '--ro-bind', '/', '/']
/** Harmless devices, and the processes of the sandbox only; no setting makes those of the machine visible. */
const OWN: readonly Mount[] = [
  { path: '/dev', options: ['--dev', '/dev'] },
  { path: '/proc', options: ['--proc', '/proc'] },
]
const NO_NESTED_USERS = ['--disable-userns']
const PROBE_MS = 10_000

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Resolves links, which would lead out of the sandbox's view of the file system. Undefined: it does not exist, or neither
 * commands nor this program can read it.
 */
const realOf = (path: string): string | undefined => valueOr(() => realpathSync(path), undefined)

const depth = ({ path }: Mount): number => path.split(sep).filter((name) => name !== '').length

const hide = (path: string): Mount[] => {
  const real = realOf(path)
  if (real === undefined) return []
  return [{ path: real, options: isFolder(real) ? ['--tmpfs', real] : ['--ro-bind', '/dev/null', real] }]
}

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Mounts the path under its real name, and under the given one if a hidden folder covers that. */
const show =
  (option: '--ro-bind' | '--bind', isHidden: (path: string) => boolean) =>
  (path: string): Mount[] => {
    const real = realOf(path)
    if (real === undefined || OWN.some((own) => isIn(real, own.path))) return []
    const needed = [real, path].filter((name) => isHidden(name) || (option === '--bind' && name === real))
    return [...new Set(needed)].map((name) => ({ path: name, options: [option, real, name] }))
  }

/** The arguments before those of a command that may write to `folders` and starts in `cwd`. */
export function sandboxWords(sandbox: Sandbox, folders: readonly string[], cwd: string): string[] {
  const hidden = [...ALWAYS_HIDDEN, ...sandbox.hidden].flatMap(hide)
  const isHidden = (path: string): boolean => hidden.some((one) => isIn(path, one.path))
  // Commands could replace paths below a writable folder with links.
  const isFixed = (path: string): boolean => !sandbox.writable.some((one) => one !== path && isIn(path, one))
  const visible = sandbox.visible.filter(isFixed).flatMap(show('--ro-bind', isHidden))
  const writable = sandbox.writable.filter(isFixed).flatMap(show('--bind', isHidden))
  // Parents before children, so that a mount never covers a deeper one.
  const mounts = [...OWN, ...hidden, ...visible, ...writable].sort((one, other) => depth(one) - depth(other))
  const open = folders.flatMap((path) => ['--bind', path, path])
  const view = [...mounts.flatMap(({ options }) => options), ...open]
  return [sandbox.program, ...sandbox.extra, ...BASE, ...view, '--chdir', cwd, '--']
}

/** The sandbox of this machine, or the reason why none works. */
export function findSandbox(path: string, paths: SandboxPaths): Sandbox | { readonly problem: string } {
  const program = path
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable)
  if (program === undefined) return { problem: 'bwrap (bubblewrap) is not installed' }
  const found = probed.get(program) ?? probe(program)
  probed.set(program, found)
  return 'problem' in found ? found : { program, ...found, ...paths }
}

type Probed = Pick<Sandbox, 'extra'> | { readonly problem: string }
const probed = new Map<string, Probed>()

const probe = (program: string): Probed => {
  let problem = ''
  for (const extra of [NO_NESTED_USERS, []]) {
    try {
      execFileSync(
        program,
        [...extra, ...BASE, ...OWN.flatMap(({ options }) => options), '--', '/bin/sh', '-c', ':'],
        {
          env: {},
          stdio: ['ignore', 'ignore', 'pipe'],
          timeout: PROBE_MS,
        },
      )
      return { extra }
    } catch (error) {
      problem = errorText(error).trim().split('\n').at(-1) ?? ''
    }
  }
  return { problem: `${program} does not work on this machine: ${problem}` }
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
