import { statSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { AttemptOfRun, RunStore } from '@scanfarm/contracts'
import { errorText, type Logger } from '@scanfarm/platform'
import type { Runners } from '@scanfarm/runners'
import type { Executor } from '../slots/executor.ts'
import { KEPT, removeWorkFolder } from './work-folders.ts'
import { WorkspaceSweeper } from './sweep-workspaces.ts'

export interface SweepOptions {
  readonly store: Pick<RunStore, 'liveAttempts' | 'removableWorkspaces'>
  readonly runners: Pick<Runners, 'sweepContainers'>
  readonly executor: Pick<Executor, 'folder' | 'homes'>
  /** How many days after their last use folders of workspaces are removed. */
  readonly retention: { readonly workspaceDays: number }
  readonly log: Logger
}

/** What sweeps find is rare and only costs disk space. */
export const SWEEP_EVERY_MS = 60_000

/** How long what an ended batch left waits for the next batch of its loop. */
const KEPT_MS = 60_000
/** Folders of attempts in one query. */
const FOLDERS_AT_ONCE = 500
const ATTEMPT = /^(?<runUuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(?<attempt>\d{1,9})$/

/** A turn removes leftovers of crashed runs on this machine, and workspaces out of retention. */
export const createSweep = (options: SweepOptions): (() => Promise<void>) => {
  const { store, executor, retention, log } = options
  let workspaces: WorkspaceSweeper | undefined
  return async () => {
    const { folder, homes } = executor
    await sweepLeftovers({ ...options, folder })
    workspaces ??= new WorkspaceSweeper({ store, folder, homes, days: retention.workspaceDays, log })
    await workspaces.sweepOnce()
  }
}

type Leftovers = Pick<SweepOptions, 'runners' | 'log'> & {
  readonly store: Pick<RunStore, 'liveAttempts'>
  readonly folder: string
}

/**
 * Removes containers and work folders of attempts that no worker executes, after a crash of a worker or of the docker
 * engine. Logs what cannot be removed; the next sweep tries again. Rejects only when the query for folders fails.
 */
async function sweepLeftovers(options: Leftovers): Promise<void> {
  const { store, runners, log } = options
  try {
    const containers = await runners.sweepContainers(async (attempt) => await isLive(store, attempt))
    if (containers > 0) log.info('removed orphaned containers', { containers })
  } catch (error) {
    // The docker engine is down; a machine without its socket has no containers.
    log.debug('orphaned containers could not be removed', { reason: errorText(error) })
  }
  const folders = await sweepFolders(options)
  if (folders > 0) log.info('removed orphaned work folders', { folders })
}

const isLive = async (store: Leftovers['store'], wanted: AttemptOfRun): Promise<boolean> => {
  const live = await store.liveAttempts([wanted.runUuid])
  return live.some(({ attempt }) => attempt === wanted.attempt)
}

/** Only one of a sweep and the next batch of the loop can rename what an ended batch left. */
const giveUpKept = async (runs: string): Promise<void> => {
  for (const name of await readdir(runs).catch((): string[] => [])) {
    if (!name.endsWith(KEPT)) continue
    const path = join(runs, name)
    const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    if (since < Date.now() - KEPT_MS) await rename(path, path.slice(0, -KEPT.length)).catch(() => undefined)
  }
}

async function sweepFolders(options: Leftovers): Promise<number> {
  await giveUpKept(join(options.folder, 'runs'))
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
      await removeWorkFolder(join(runs, nameOf(attempt)))
      removed += 1
    } catch (error) {
      log.warn('an orphaned work folder could not be removed', { reason: errorText(error) })
    }
  }
  return removed
}

const attemptOf = (name: string): AttemptOfRun | undefined => {
  const { runUuid, attempt } = ATTEMPT.exec(name)?.groups ?? {}
  return runUuid === undefined ? undefined : { runUuid, attempt: Number(attempt) }
}

const nameOf = ({ runUuid, attempt }: AttemptOfRun): string => `${runUuid}-${attempt}`
