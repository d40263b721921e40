import type { StepClosed } from '@scanfarm/contracts'
import type { Closing, OpenRow, StepContext } from './step-context.ts'

/** Maximum characters of a command in the record. */
const MAX_COMMAND = 64 * 1024

const open = (at: StepContext, command: string, startedAt: Date, seq = at.module.run.nextSeq()): void => {
  const { run, name } = at.module
  run.input.recorder.stepOpened({
    key: at.key,
    seq,
    name: at.step.name,
    type: at.step.type,
    module: name,
    command: at.step.suppress_details === true ? '' : run.recordable(command, MAX_COMMAND),
    startedAt,
  })
}

const closedOf = (
  at: StepContext,
  status: StepClosed['status'],
  closing: Closing,
  from: number,
): StepClosed => {
  const { run } = at.module
  return {
    key: at.key,
    status,
    errorMessage: run.recordable(closing.error ?? '', MAX_COMMAND),
    exports: closing.exports ?? {},
    ...(closing.exitCode === undefined ? {} : { exitCode: closing.exitCode }),
    ...(at.afterItem === undefined ? {} : { afterItem: at.afterItem }),
    durationMs: Math.max(0, Math.round(run.ports.monotonic() - from)),
    completedAt: run.ports.now(),
  }
}

/** Records a step from its start. */
export const ownRow =
  (counts: boolean): OpenRow =>
  (at, command) => {
    const from = at.module.run.ports.monotonic()
    open(at, command, at.module.run.ports.now())
    return {
      close: (status, closing = {}) =>
        at.module.run.input.recorder.stepClosed(closedOf(at, status, closing, from), counts),
    }
  }

/** The rows of one item of a loop. */
export interface ItemRows {
  readonly open: OpenRow
  /** For its rows, and those of its actions and of steps inside it. */
  readonly afterItem: NonNullable<StepContext['afterItem']>
  /** The item does nothing more. `hasEnded`: another attempt does not execute it again. */
  record(hasEnded: boolean): void
}

/**
 * Records steps only if they fail or do not do all, and only the first few: for the items of a loop. `around`: of the
 * item that the loop is inside of.
 */
export const rowsOfFailures = (
  most: number,
  rowsBefore = 0,
  around: ItemRows['afterItem'] = (note) => note(),
): (() => ItemRows) => {
  let rows = rowsBefore
  return () => {
    const kept: (() => void)[] = []
    const notes: (() => void)[] = []
    return {
      afterItem: (note) => void notes.push(note),
      open(at, command) {
        const { run } = at.module
        const from = run.ports.monotonic()
        const startedAt = run.ports.now()
        return {
          close(status, closing = {}) {
            const isPartial = status === 'completed' && closing.error !== undefined
            if ((status !== 'failed' && !isPartial) || rows >= most) return
            const closed = closedOf(at, status, closing, from)
            // Before those of its actions.
            const seq = run.nextSeq()
            kept.push(() => {
              if (rows >= most) return
              rows++
              const row = { ...at, key: run.uniqueKey(`${at.key}/failed-${rows}`) }
              open(row, command, startedAt, seq)
              if (closing.output !== undefined && closing.output !== '')
                void run.input.recorder.output(row.key, 'stdout', Buffer.from(`${closing.output}\n`))
              run.input.recorder.stepClosed({ ...closed, key: row.key }, false)
            })
          },
        }
      },
      record(hasEnded) {
        for (const one of kept) one()
        if (hasEnded) for (const note of notes) around(note)
      },
    }
  }
}

/** Adds text to the output of a step, unless its details are not recorded. */
export const show = async (at: StepContext, text: string): Promise<void> => {
  if (at.step.suppress_details === true || text === '') return
  await at.module.run.input.recorder.output(at.key, 'stdout', Buffer.from(text))
}

/** Records a step that does not run, with the reason, and with a condition that may have asked a host as command. */
export const skipStep = (at: StepContext, reason: string, openRow: OpenRow, command = ''): void =>
  openRow(at, command).close('skipped', { error: reason })
