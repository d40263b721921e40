import { execFileSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { messageOf } from '../error-facts.ts'

/** How commands of a program without root are kept apart from it: namespaces, made by bubblewrap. */
export interface Sandbox {
  readonly program: string
  /** Words that this version of the program understands and that cost nothing. */
  readonly extra: readonly string[]
  /** Files and folders that commands must not see. */
  readonly hidden: readonly string[]
  /** Folders that commands may see for reading though they lie in a hidden one. */
  readonly visible: readonly string[]
}

/** Places where every user may leave files, and where services of a user listen. */
const ALWAYS_HIDDEN = ['/tmp', '/var/tmp', '/run/user']
/** A process table of its own, from which nothing outside can be reached; no capabilities, no way to regain any. */
const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL']
const BASE = [...NAMESPACES, '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']
const NO_NESTED_USERS = ['--disable-userns']
const PROBE_MS = 10_000

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** What lies above comes first, so that nothing is covered that was meant to be seen. */
const byDepth = (one: string, other: string): number => one.split(sep).length - other.split(sep).length

/** The words before those of a command that works in `writable` folders and begins in `cwd`. */
export function sandboxWords(sandbox: Sandbox, writable: readonly string[], cwd: string): string[] {
  // Links on the way lead out of the view that is being made.
  const hidden = [...ALWAYS_HIDDEN, ...sandbox.hidden].filter(isThere).map((path) => realpathSync(path))
  const hide = [...new Set(hidden)]
    .sort(byDepth)
    .flatMap((path) => (isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]))
  const isHidden = (path: string): boolean => hidden.some((one) => path.startsWith(one + sep))
  const show = sandbox.visible
    .filter((path) => isHidden(path) && isThere(path))
    .flatMap((path) => ['--ro-bind', path, path])
  const open = writable.flatMap((path) => ['--bind', path, path])
  return [sandbox.program, ...sandbox.extra, ...BASE, ...hide, ...show, ...open, '--chdir', cwd, '--']
}

/** The sandbox that works here, or why none does. */
export function findSandbox(
  path: string,
  places: Pick<Sandbox, 'hidden' | 'visible'>,
): Sandbox | { readonly problem: string } {
  const program = path
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable)
  if (program === undefined) return { problem: 'bwrap (bubblewrap) is not installed' }
  const found = probed.get(program) ?? probe(program)
  probed.set(program, found)
  return 'problem' in found ? found : { program, ...found, ...places }
}

type Probed = Pick<Sandbox, 'extra'> | { readonly problem: string }
const probed = new Map<string, Probed>()

const probe = (program: string): Probed => {
  let problem = ''
  for (const extra of [NO_NESTED_USERS, []]) {
    try {
      execFileSync(program, [...extra, ...BASE, '--', '/bin/sh', '-c', ':'], {
        env: {},
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: PROBE_MS,
      })
      return { extra }
    } catch (error) {
      problem = messageOf(error).trim().split('\n').at(-1) ?? ''
    }
  }
  return { problem: `${program} does not work here: ${problem}` }
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
