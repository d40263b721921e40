import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import type { Harness } from '../harness.ts'
import { medianMs } from '../timing.ts'

const TRIES = 3
const CHUNK = 1_000

/** Milliseconds that plain BullMQ needs to add `count` small prioritized messages. */
export const addBulkMs = (harness: Harness, redisUrl: string, count: number): Promise<number> =>
  harness.once(`limit: bare BullMQ addBulk of ${count} messages`, async () => {
    const connection = new Redis(redisUrl, { maxRetriesPerRequest: null })
    const queue = new Queue('bench-bare', { connection })
    try {
      return await medianMs(TRIES, async (attempt) => {
        for (let from = 0; from < count; from += CHUNK) {
          const size = Math.min(CHUNK, count - from)
          await queue.addBulk(
            Array.from({ length: size }, (_, index) => message(attempt * count + from + index)),
          )
        }
      })
    } finally {
      await queue.obliterate({ force: true })
      await queue.close()
      connection.disconnect()
    }
  })

const message = (id: number) => ({
  name: 'run',
  data: { runId: id, epoch: 1 },
  opts: { jobId: `r${id}-1`, priority: 3, removeOnComplete: true },
})
