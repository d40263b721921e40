import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AttemptOfRun, RunStore } from '@scanfarm/contracts'
import type { Runners } from '@scanfarm/runners'
import type { Executor } from './executor.ts'
import type { ExecutorLog } from './log.ts'
import { removeTree } from './remove-tree.ts'
import { reasonOf } from './retry.ts'
import { WorkspaceSweeper } from './workspaces/sweep-workspaces.ts'

export interface SweepOptions {
  readonly store: Pick<RunStore, 'liveAttempts' | 'removableWorkspaces'>
  readonly runners: Pick<Runners, 'sweepContainers'>
  readonly executor: Pick<Executor, 'folder' | 'homes'>
  /** Whether folders of workspaces are removed, and after how many days besides the retention of runs. */
  readonly retention: { readonly workspaces: boolean; readonly workspaceDays: number }
  readonly log: ExecutorLog
}

/** Good time between two sweeps: what they find is rare, and only costs room. */
export const SWEEP_EVERY_MS = 60_000

/** Folders of attempts in one question to the database. */
const FOLDERS_AT_ONCE = 500
const ATTEMPT = /^(?<runUuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(?<attempt>\d{1,9})$/

/** One turn removes what runs have left on this machine, and what is out of retention. */
export const createSweep = (options: SweepOptions): (() => Promise<void>) => {
  const { store, executor, retention, log } = options
  let workspaces: WorkspaceSweeper | undefined
  return async () => {
    const { folder, homes } = executor
    await sweepLeftovers({ ...options, folder })
    if (!retention.workspaces) return
    workspaces ??= new WorkspaceSweeper({ store, folder, homes, days: retention.workspaceDays, log })
    await workspaces.sweepOnce()
  }
}

type Leftovers = Pick<SweepOptions, 'runners' | 'log'> & {
  readonly store: Pick<RunStore, 'liveAttempts'>
  readonly folder: string
}

/**
 * Removes containers and work folders of attempts that nobody executes any more: those of a process that crashed, and
 * of an engine that did. What cannot be removed now is told and tried again by the next sweep; rejects only when the
 * store cannot be asked about folders.
 */
async function sweepLeftovers(options: Leftovers): Promise<void> {
  const { store, runners, log } = options
  try {
    const containers = await runners.sweepContainers(async (attempt) => await isLive(store, attempt))
    if (containers > 0) log.info('containers that were left over are removed', { containers })
  } catch (error) {
    // Most often there is no engine on this machine.
    log.debug('containers could not be swept', { reason: reasonOf(error) })
  }
  const folders = await sweepFolders(options)
  if (folders > 0) log.info('work folders that were left over are removed', { folders })
}

const isLive = async (store: Leftovers['store'], wanted: AttemptOfRun): Promise<boolean> => {
  const live = await store.liveAttempts([wanted.runUuid])
  return live.some(({ attempt }) => attempt === wanted.attempt)
}

async function sweepFolders(options: Leftovers): Promise<number> {
  const names = await readdir(join(options.folder, 'runs')).catch((): string[] => [])
  const found = names.flatMap((name) => attemptOf(name) ?? [])
  let removed = 0
  for (let from = 0; from < found.length; from += FOLDERS_AT_ONCE)
    removed += await sweepSome(found.slice(from, from + FOLDERS_AT_ONCE), options)
  return removed
}

async function sweepSome(found: readonly AttemptOfRun[], { store, folder, log }: Leftovers): Promise<number> {
  const runs = join(folder, 'runs')
  const live = new Set((await store.liveAttempts(found.map(({ runUuid }) => runUuid))).map(nameOf))
  let removed = 0
  for (const attempt of found.filter((one) => !live.has(nameOf(one)))) {
    try {
      await removeTree(join(runs, nameOf(attempt)))
      removed += 1
    } catch (error) {
      log.warn('a work folder that was left over cannot be removed', { reason: reasonOf(error) })
    }
  }
  return removed
}

const attemptOf = (name: string): AttemptOfRun | undefined => {
  const { runUuid, attempt } = ATTEMPT.exec(name)?.groups ?? {}
  return runUuid === undefined ? undefined : { runUuid, attempt: Number(attempt) }
}

const nameOf = ({ runUuid, attempt }: AttemptOfRun): string => `${runUuid}-${attempt}`
