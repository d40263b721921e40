import type { StepClosed } from '@scanfarm/contracts'
import type { Closing, OpenRow, StepContext } from './step-context.ts'

/** Maximum characters of a command in the record. */
const MAX_COMMAND = 64 * 1024

const open = (at: StepContext, command: string, startedAt: Date): void => {
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
  at: StepContext,
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

/** Records a step from its start. */
export const ownRow =
  (counts: boolean): OpenRow =>
  (at, command) => {
    const from = at.module.run.ports.monotonic()
    open(at, command, at.module.run.ports.now())
    return { close: (status, closing = {}) => close(at, status, closing, from, counts) }
  }

/** Records a step only if it fails or does not do all, and only the first few: for the items of a loop. */
export const rowForFailures = (most: number, rowsBefore = 0): OpenRow => {
  let rows = rowsBefore
  return (at, command) => {
    const { run } = at.module
    const from = run.ports.monotonic()
    const startedAt = run.ports.now()
    return {
      close(status, closing = {}) {
        const isPartial = status === 'completed' && closing.error !== undefined
        if ((status !== 'failed' && !isPartial) || rows >= most) return
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

/** Adds text to the output of a step, unless its details are not recorded. */
export const show = async (at: StepContext, text: string): Promise<void> => {
  if (at.step.suppress_details === true || text === '') return
  await at.module.run.input.recorder.output(at.key, 'stdout', Buffer.from(text))
}

/** Records a step that does not run, with the reason, and with a condition that may have asked a host as command. */
export const skipStep = (at: StepContext, reason: string, openRow: OpenRow, command = ''): void =>
  openRow(at, command).close('skipped', { error: reason })
