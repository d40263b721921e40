import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AttemptOfRun, RunStore } from '@scanfarm/contracts'
import type { Runners } from '@scanfarm/runners'
import type { ExecutorLog } from './log.ts'
import { removeTree } from './remove-tree.ts'
import { reasonOf } from './retry.ts'

export interface SweepOptions {
  readonly store: Pick<RunStore, 'liveAttempts'>
  readonly runners: Pick<Runners, 'sweepContainers'>
  /** Where the folders of attempts really are: `Executor.folder`. */
  readonly folder: string
  readonly log: ExecutorLog
}

/** Good time between two sweeps: what they find is rare, and only costs room. */
export const SWEEP_EVERY_MS = 60_000

/** Folders looked at in one sweep; the next one goes on. */
const MAX_FOLDERS = 500
const ATTEMPT = /^(?<runUuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(?<attempt>\d{1,9})$/

/**
 * Removes containers and work folders of attempts that nobody executes any more: those of a process that crashed, and
 * of an engine that did. What cannot be removed now is told and tried again by the next sweep; rejects only when the
 * store cannot be asked about folders.
 */
export async function sweepLeftovers(options: SweepOptions): Promise<void> {
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

const isLive = async (store: SweepOptions['store'], wanted: AttemptOfRun): Promise<boolean> => {
  const live = await store.liveAttempts([wanted.runUuid])
  return live.some(({ attempt }) => attempt === wanted.attempt)
}

async function sweepFolders({ store, folder, log }: SweepOptions): Promise<number> {
  const runs = join(folder, 'runs')
  const names = await readdir(runs).catch((): string[] => [])
  const found = names.flatMap((name) => attemptOf(name) ?? []).slice(0, MAX_FOLDERS)
  if (found.length === 0) return 0
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
