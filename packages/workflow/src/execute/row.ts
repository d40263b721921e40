import type { StepClosed } from '@scanfarm/contracts'
import type { StepRun } from './place.ts'

/** Characters of a command in the record. */
const MAX_COMMAND = 64 * 1024

export interface Closing {
  readonly error?: string | undefined
  readonly exports?: Record<string, string>
  readonly exitCode?: number | undefined
  /** What the step wrote, for rows that did not take it as it came. */
  readonly output?: string | undefined
}

/** The place of a step in the record. */
export interface Row {
  close(status: StepClosed['status'], closing?: Closing): void
}

/** How steps of some kind are recorded: `command` is known when the row is opened. */
export type OpenRow = (at: StepRun, command: string) => Row

const open = (at: StepRun, command: string, startedAt: Date): void => {
  const { run, name } = at.module
  run.input.recorder.stepOpened({
    key: at.key,
    seq: run.nextSeq(),
    name: at.step.name,
    type: at.step.type,
    module: name,
    command: at.step.suppress_details === true ? '' : run.recordable(command, MAX_COMMAND),
    startedAt,
  })
}

const close = (
  at: StepRun,
  status: StepClosed['status'],
  closing: Closing,
  from: number,
  counts: boolean,
): void => {
  const { run } = at.module
  run.input.recorder.stepClosed(
    {
      key: at.key,
      status,
      errorMessage: run.recordable(closing.error ?? '', MAX_COMMAND),
      exports: closing.exports ?? {},
      ...(closing.exitCode === undefined ? {} : { exitCode: closing.exitCode }),
      durationMs: Math.max(0, Math.round(run.ports.monotonic() - from)),
      completedAt: run.ports.now(),
    },
    counts,
  )
}

/** A row of its own, there from the beginning. */
export const ownRow =
  (counts: boolean): OpenRow =>
  (at, command) => {
    const from = at.module.run.ports.monotonic()
    open(at, command, at.module.run.ports.now())
    return { close: (status, closing = {}) => close(at, status, closing, from, counts) }
  }

/** No row unless the step fails, and then only for the first few: for the items of a loop. */
export const rowForFailures = (most: number): OpenRow => {
  let rows = 0
  return (at, command) => {
    const { run } = at.module
    const from = run.ports.monotonic()
    const startedAt = run.ports.now()
    return {
      close(status, closing = {}) {
        if (status !== 'failed' || rows >= most) return
        rows++
        const row = { ...at, key: run.uniqueKey(`${at.key}/failed-${rows}`) }
        open(row, command, startedAt)
        if (closing.output !== undefined && closing.output !== '') {
          void run.input.recorder.output(row.key, 'stdout', Buffer.from(`${closing.output}\n`))
        }
        close(row, status, closing, from, false)
      },
    }
  }
}

/** A row for a step that does not run, with the reason. */
export const skipStep = (at: StepRun, reason: string, openRow: OpenRow): void =>
  openRow(at, '').close('skipped', { error: reason })
