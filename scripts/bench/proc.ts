import { readdirSync, readFileSync } from 'node:fs'

/** The kernel reports CPU time in units of 1/100 s to every program. */
const US_PER_TICK = 10_000

/** A process with its CPU time in µs. */
export interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  readonly own: number
  /** Of its children that have ended, with theirs. */
  readonly reaped: number
}

/** A file below `/proc`; empty if its process has ended. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

export const allProcesses = (): ProcessTimes[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .flatMap(timesOf)

function timesOf(pid: number): ProcessTimes[] {
  const stat = readProc(`${pid}/stat`)
  // The name of the program, in parentheses, can contain spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = (first: number): number => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * US_PER_TICK
  return stat === '' ? [] : [{ pid, parent: fields[1] ?? 0, own: ticks(11), reaped: ticks(13) }]
}

/** The descendants of a process that exist now. */
export function descendantsOf(parent: number, all = allProcesses()): ProcessTimes[] {
  return all
    .filter((one) => one.parent === parent)
    .flatMap((child) => [child, ...descendantsOf(child.pid, all)])
}

/** CPU time of the whole machine in µs since its start. */
export function machineTimes(): { busy: number; interrupts: number; steal: number } {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readProc('stat')
    .slice('cpu  '.length)
    .split(' ', 8)
    .map((ticks) => Number(ticks) * US_PER_TICK)
  return { busy: user + nice + system + irq + softirq, interrupts: irq + softirq, steal }
}
