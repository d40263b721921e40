import { compile, PRIORITY_RANK, type Ticket } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { QueueMessage } from './run-queue.ts'

/** BullMQ refuses ids that are only digits, and `:` in them. */
export const messageId = ({ runId, epoch }: Ticket): string => `r${runId}-${epoch}`

/** Of a message id; 0 for one that is not ours, which is taken, seen and dropped. */
export const runIdOf = (id: string): number => Number(/^r(\d+)-\d+$/.exec(id)?.[1] ?? 0)

export interface BullMessage {
  readonly name: 'run'
  readonly data: Ticket
  readonly opts: {
    readonly jobId: string
    readonly priority: number
    readonly removeOnComplete: true
    readonly removeOnFail: true
  }
}

/** A message without a priority would outrank all others, so none is made. */
export const bullMessage = (message: QueueMessage): BullMessage => {
  const priority: number | undefined = PRIORITY_RANK[message.priority]
  if (priority === undefined)
    throw new Error(
      `run ${message.runId}: a message needs one of the priorities ${Object.keys(PRIORITY_RANK).join(', ')}`,
    )
  const { runId, epoch } = message
  return {
    name: 'run',
    data: { runId, epoch },
    opts: { jobId: messageId(message), priority, removeOnComplete: true, removeOnFail: true },
  }
}

/** Reads a payload that may have been written by anybody who can reach the backend. */
export const parseTicket = compile(
  Type.Object({ runId: Type.Integer({ minimum: 1 }), epoch: Type.Integer({ minimum: 0 }) }),
  { subject: 'queue message' },
)
