import { Loop } from '@scanfarm/platform'
import { schedule } from 'node-cron'
import type { ServerContext } from '../context.ts'
import { Scheduler } from './scheduler.ts'

const SILENT = { info() {}, warn() {}, error() {}, debug() {} }

/** Fires schedules at every full second of the clock. The interval is for a second that a busy process missed. */
export const startSchedules = ({ receiver, store, log }: ServerContext): AsyncDisposable => {
  const scheduler = new Scheduler(receiver, store.triggers)
  const loop = new Loop({
    name: 'fire schedules',
    intervalMs: 5_000,
    log,
    turn: (signal) => scheduler.tickOnce(new Date(), signal),
  })
  const clock = schedule('* * * * * *', () => loop.wake(), { logger: SILENT, suppressMissedWarning: true })
  loop.start()
  return {
    async [Symbol.asyncDispose]() {
      await clock.destroy()
      await loop[Symbol.asyncDispose]()
    },
  }
}
