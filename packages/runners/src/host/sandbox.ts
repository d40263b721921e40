import { execFileSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { messageOf } from '../error-facts.ts'

/** How commands of a program without root are kept apart from it: namespaces, made by bubblewrap. */
export interface Sandbox extends SandboxPlaces {
  readonly program: string
  /** Words that this version of the program understands and that cost nothing. */
  readonly extra: readonly string[]
}

/** Of a file or folder with all inside it the deepest place decides. */
export interface SandboxPlaces {
  /** Commands must not see it. */
  readonly hidden: readonly string[]
  /** Commands may read it though it lies in a hidden one. */
  readonly visible: readonly string[]
  /** Commands may write there too, as far as this program may. */
  readonly writable: readonly string[]
}

interface Place {
  readonly path: string
  readonly words: readonly string[]
}

/** Places where every user may leave files, and where services of a user listen. */
const ALWAYS_HIDDEN = ['/tmp', '/var/tmp', '/run/user']
/** A process table of its own, from which nothing outside can be reached; no capabilities, no way to regain any. */
const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL']
const BASE = [...NAMESPACES, '--ro-bind', '/', '/']
/** Devices that harm nothing, and the processes of the sandbox alone; no setting brings those of the machine back. */
const OWN: readonly Place[] = [
  { path: '/dev', words: ['--dev', '/dev'] },
  { path: '/proc', words: ['--proc', '/proc'] },
]
const NO_NESTED_USERS = ['--disable-userns']
const PROBE_MS = 10_000

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Where a path leads; links on the way would lead out of the view that is being made. */
const realOf = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    // It does not exist, or is as closed to commands as it is to this program.
    return undefined
  }
}

const depth = ({ path }: Place): number => path.split(sep).filter((name) => name !== '').length

const hide = (path: string): Place[] => {
  const real = realOf(path)
  if (real === undefined) return []
  return [{ path: real, words: isFolder(real) ? ['--tmpfs', real] : ['--ro-bind', '/dev/null', real] }]
}

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Also at a name of it that a hidden folder covers. */
const show =
  (option: '--ro-bind' | '--bind', isHidden: (path: string) => boolean) =>
  (path: string): Place[] => {
    const real = realOf(path)
    if (real === undefined || OWN.some((own) => isIn(real, own.path))) return []
    const needed = [real, path].filter((name) => isHidden(name) || (option === '--bind' && name === real))
    return [...new Set(needed)].map((name) => ({ path: name, words: [option, real, name] }))
  }

/** The words before those of a command that works in `folders` and begins in `cwd`. */
export function sandboxWords(sandbox: Sandbox, folders: readonly string[], cwd: string): string[] {
  const hidden = [...ALWAYS_HIDDEN, ...sandbox.hidden].flatMap(hide)
  const isHidden = (path: string): boolean => hidden.some((one) => isIn(path, one.path))
  // Commands could make a link of what lies in a folder where they write.
  const isFixed = (path: string): boolean => !sandbox.writable.some((one) => one !== path && isIn(path, one))
  const visible = sandbox.visible.filter(isFixed).flatMap(show('--ro-bind', isHidden))
  const writable = sandbox.writable.filter(isFixed).flatMap(show('--bind', isHidden))
  // What lies above comes first, so that nothing is covered that was meant to be seen, nor shown that was hidden.
  const places = [...OWN, ...hidden, ...visible, ...writable].sort((one, other) => depth(one) - depth(other))
  const open = folders.flatMap((path) => ['--bind', path, path])
  const view = [...places.flatMap(({ words }) => words), ...open]
  return [sandbox.program, ...sandbox.extra, ...BASE, ...view, '--chdir', cwd, '--']
}

/** The sandbox that works here, or why none does. */
export function findSandbox(path: string, places: SandboxPlaces): Sandbox | { readonly problem: string } {
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
      execFileSync(
        program,
        [...extra, ...BASE, ...OWN.flatMap(({ words }) => words), '--', '/bin/sh', '-c', ':'],
        {
          env: {},
          stdio: ['ignore', 'ignore', 'pipe'],
          timeout: PROBE_MS,
        },
      )
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
