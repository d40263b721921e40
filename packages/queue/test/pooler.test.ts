// long
import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { startPgbouncer } from '@scanfarm/testing/pgbouncer'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openRunQueue, type QueueLog } from '../src/index.ts'
import { message, newFarm, patience, postgresBackend, quiet, serveAll } from './backends.ts'

const at = forAllTests(() => postgresBackend())

test.each([
  ['session', false, 0],
  ['transaction', false, 1],
  ['transaction', true, 0],
] as const)(
  'The queue works behind PgBouncer in %s mode, with a direct address: %p',
  async (mode, direct, warnings) => {
    await using pooler = await startPgbouncer(at.backend.url, mode)
    const lines: string[] = []
    const log: QueueLog = { ...quiet, warn: (line) => void lines.push(line) }
    const backend = {
      kind: 'postgres',
      url: pooler.url,
      ...(direct ? { directUrl: at.backend.url } : {}),
    } as const
    const farmId = newFarm()
    await using master = await openRunQueue(backend, { farmId, role: 'master', log: quiet })
    await using worker = await openRunQueue(backend, { farmId, role: 'worker', log })
    await master.check()
    await worker.check()
    await using consumer = worker.consumer(serveAll)
    for (let runId = 1; runId <= 20; runId += 1) {
      const taking = consumer.take(1, patience())
      await master.add([message(runId)])
      const [delivery] = await taking
      expect(delivery?.runId).toBe(runId)
      await delivery?.ack()
    }
    const asked = { missed: 0, cancelled: [] as number[] }
    await using _listening = await worker.onSignal(
      ({ runIds }) => asked.cancelled.push(...runIds),
      () => void asked.missed++,
    )
    await until(async () => {
      await master.publishCancel([{ runId: 5 }])
      return asked.cancelled.includes(5) || asked.missed > 0
    })
    expect(
      new Set(lines.filter((line) => line.includes('notifications of Postgres do not arrive'))).size,
    ).toBe(warnings)
  },
)
