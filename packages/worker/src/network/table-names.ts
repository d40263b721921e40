import { readdirSync, readlinkSync } from 'node:fs'
import { isSameProcess, processStart, userOf } from '@scanfarm/runners'

const PREFIX = 'scanfarm'

/** Process ids of containers are others than those of the machine, whose network they may share. */
const space = (): string => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'

let tables = 0

/** A name for tables of this process. */
export const newTable = (): string =>
  [PREFIX, space(), process.pid, processStart(process.pid), (tables += 1)].join('_')

export const isOfWorker = (name: string): boolean => name.startsWith(`${PREFIX}_`)

/** Tables of workers that ended without removing them. */
export const deadTables = (names: readonly string[]): string[] =>
  names.filter((name) => {
    const [prefix, where, pid, started, number, ...more] = name.split('_')
    const isOurs = prefix === PREFIX && where === space() && number !== undefined && more.length === 0
    return isOurs && !isSameProcess(Number(pid), Number(started))
  })

/** Users that have processes. */
export const busyUids = (): ReadonlySet<number> =>
  new Set(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => userOf(Number(pid)) ?? []),
  )
