import { cpus, totalmem, release, type } from 'node:os'

const GIB = 1024 ** 3

/** The machine of the measurements. */
export const describeMachine = (): Record<string, string> => ({
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  memory: `${Math.round(totalmem() / GIB)} GiB`,
  system: `${type()} ${release()}`,
  node: process.version,
})
