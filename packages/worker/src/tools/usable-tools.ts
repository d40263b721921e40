import { mkdirSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Runner, RunnerProvider } from '@scanfarm/contracts'
import { unusablePrograms } from '@scanfarm/engine'
import type { CommandUsers } from '../users/command-users.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/
/** Bounds the capabilities of a worker in lists. */
const MAX_PROGRAMS = 4096

export interface ToolSearch {
  readonly runners: RunnerProvider
  readonly users: CommandUsers
  /** The folder that contains the work folders of runs. */
  readonly workFolder: string
  /** `PATH` of commands. */
  readonly path: string
}

const foldersOf = (path: string): string[] =>
  [...new Set(path.split(':'))].filter((folder) => folder.startsWith('/'))

/** Sorted names of the files in a search path: candidates for the tools that workflows require. */
export async function programsOn(path: string): Promise<string[]> {
  const names = await Promise.all(foldersOf(path).map((folder) => readdir(folder).catch(() => [])))
  return [...new Set(names.flat())]
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, MAX_PROGRAMS)
}

/** Changes when an entry of one of the folders is added, removed or renamed. */
export async function pathState(path: string): Promise<string> {
  const times = foldersOf(path).map((folder) =>
    stat(folder).then(
      ({ ino, mtimeMs }) => `${ino}@${mtimeMs}`,
      () => 'none',
    ),
  )
  return (await Promise.all(times)).join(' ')
}

/** Calls `use` with a runner whose commands have the rights of those of runs. `purpose`: the name of their folder. */
export async function asCommands<Result>(
  { runners, users, workFolder }: ToolSearch,
  purpose: string,
  signal: AbortSignal,
  use: (runner: Runner, folder: string) => Promise<Result>,
): Promise<Result> {
  // No workspace can have this name, so the folder and its home belong to no run.
  const folder = join(workFolder, `~${purpose}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { owner, release } = await users.acquire(folder, signal)
  try {
    const context = { runUuid: purpose, attempt: 1, folder, owner, signal, log: () => {} }
    const marker = `${purpose}-${randomUUID()}`
    await using runner = await runners.open({ type: 'host' }, { ...context, marker })
    return await use(runner, folder)
  } finally {
    await release()
  }
}

/** The programs that commands of runs can use: found by a command with the rights of those commands. */
export const usableTools = (
  search: ToolSearch,
  names: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> =>
  asCommands(search, 'tools', signal, async (runner, folder) => {
    const env = { PATH: search.path, HOME: folder }
    const unusable = await unusablePrograms(runner, names, { env, signal })
    return names.filter((name) => !unusable.has(name))
  })
