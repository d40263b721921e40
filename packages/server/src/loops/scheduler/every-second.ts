import { schedule } from 'node-cron'

const SILENT = { info() {}, warn() {}, error() {}, debug() {} }

/** Calls back at every full second of the clock until it is disposed. */
export const everySecond = (tick: () => void): Disposable => {
  const task = schedule('* * * * * *', tick, { logger: SILENT, suppressMissedWarning: true })
  return { [Symbol.dispose]: () => void task.destroy() }
}
