import { mkdirSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { RunnerProvider } from '@scanfarm/contracts'
import { unusablePrograms } from '@scanfarm/workflow'
import type { CommandUsers } from './users/command-users.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/
/** A worker shows what it can do in lists: that has to end somewhere. */
const MAX_PROGRAMS = 4096

export interface ToolPlaces {
  readonly runners: RunnerProvider
  readonly users: CommandUsers
  /** Where work folders of runs are. */
  readonly workFolder: string
  /** `PATH` of commands. */
  readonly path: string
}

const foldersOf = (path: string): string[] =>
  [...new Set(path.split(':'))].filter((folder) => folder.startsWith('/'))

/** Names in the folders of a search path, sorted: any of them may be what a workflow declares to need. */
export async function programsOn(path: string): Promise<string[]> {
  const names = await Promise.all(foldersOf(path).map((folder) => readdir(folder).catch(() => [])))
  return [...new Set(names.flat())]
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, MAX_PROGRAMS)
}

/** Changes when an entry of one of the folders comes, goes or gets another name. */
export async function pathState(path: string): Promise<string> {
  const times = foldersOf(path).map((folder) =>
    stat(folder).then(
      ({ ino, mtimeMs }) => `${ino}@${mtimeMs}`,
      () => 'none',
    ),
  )
  return (await Promise.all(times)).join(' ')
}

/** Those of the programs that commands of runs can use: they are looked for as such a command, with its rights. */
export async function usableTools(
  { runners, users, workFolder, path }: ToolPlaces,
  names: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  // No workspace has this name: the folder has a home of its name, like that of a workspace.
  const folder = join(workFolder, '~tools')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { owner, release } = await users.acquire(folder, signal)
  try {
    const context = { runUuid: 'tools', attempt: 1, folder, marker: `tools-${randomUUID()}`, owner, signal }
    await using runner = await runners.open({ type: 'host' }, { ...context, log: () => {} })
    const unusable = await unusablePrograms(runner, names, { env: { PATH: path, HOME: folder }, signal })
    return names.filter((name) => !unusable.has(name))
  } finally {
    await release()
  }
}
