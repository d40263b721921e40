import { compile, PRIORITY_RANK, type Ticket } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { QueueMessage, Share } from './run-queue.ts'

/** BullMQ rejects ids that consist of digits only or contain `:`. */
export const messageId = ({ runId, epoch }: Ticket): string => `r${runId}-${epoch}`

/** The run id in a message id. 0: another program wrote the message; it is taken first, and dropped. */
export const runIdOf = (id: string): number => Number(/^r(\d+)-\d+$/.exec(id)?.[1] ?? 0)

export interface BullMessage {
  readonly name: 'run'
  readonly data: Ticket
  readonly share: Share
  readonly opts: {
    readonly jobId: string
    readonly priority: number
    readonly removeOnComplete: true
    readonly removeOnFail: true
  }
}

/** Throws for a message without a priority, which would outrank all others. */
export const bullMessage = (message: QueueMessage): BullMessage => {
  const priority: number | undefined = PRIORITY_RANK[message.priority]
  if (priority === undefined)
    throw new Error(
      `run ${message.runId}: a message needs one of the priorities ${Object.keys(PRIORITY_RANK).join(', ')}`,
    )
  const { runId, epoch, share } = message
  return {
    name: 'run',
    data: { runId, epoch },
    share,
    opts: { jobId: messageId(message), priority, removeOnComplete: true, removeOnFail: true },
  }
}

/** Reads a payload, which any client of the backend may have written. */
export const parseTicket = compile(
  Type.Object({ runId: Type.Integer({ minimum: 1 }), epoch: Type.Integer({ minimum: 0 }) }),
  { subject: 'queue message' },
)
