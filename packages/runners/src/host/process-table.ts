import { readFileSync, readdirSync, statSync } from 'node:fs'
import { codeOf } from '../error-facts.ts'
import { belongsTo, MARKER_VARIABLE } from '../marker.ts'

/** One line of the machine's process table, read from /proc. Elsewhere than on Linux the table looks empty. */
export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Clock ticks (10 ms) since the machine started; with the pid it names a process for good. */
  readonly startedTicks: number
  /** Ended, and only waiting to be reaped. */
  readonly dead: boolean
  /** One of the kernel's own. */
  readonly ofKernel: boolean
}

const TICKS_PER_SECOND = 100
/** `PF_KTHREAD` of the kernel's include/linux/sched.h. */
const KERNEL_THREAD = 0x00200000
export const TICK_MS = 1_000 / TICKS_PER_SECOND

export const ticksNow = (): number => {
  const uptime = readText('/proc/uptime')
  return uptime === undefined ? 0 : Math.floor(Number.parseFloat(uptime) * TICKS_PER_SECOND)
}

export function listPids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

/** Missing when the process is gone. */
export function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedTicks: Number(rest[15]),
    dead: state === 'Z' || state === 'X',
    ofKernel: (Number(rest[2]) & KERNEL_THREAD) !== 0,
  }
}

export const isAlive = (known: ProcessInfo): boolean => {
  const now = readProcess(known.pid)
  return now !== undefined && !now.dead && now.startedTicks === known.startedTicks
}

/**
 * Whether a process was started with the marker. `closed`: its environment may not be read. `untold` for the instant in
 * which one program takes the place of another: then the process shows neither words nor environment.
 */
export function carries({ pid, ofKernel }: ProcessInfo, marker: string): boolean | 'untold' | 'closed' {
  const environment = readEnvironment(pid)
  if (environment === undefined) return 'closed'
  if (environment === '') return !ofKernel && isStarting(pid) ? 'untold' : false
  return belongsTo(markerIn(`\0${environment}`), marker)
}

/** Of a process whose environment was just found to be empty: it has none, or it is there by now, or comes. */
const isStarting = (pid: number): boolean => {
  const words = readText(`/proc/${pid}/cmdline`)
  return words === '' || Boolean(readText(`/proc/${pid}/environ`))
}

/** Undefined when this program may not read it; empty as well when the process is gone. */
function readEnvironment(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch (error) {
    return codeOf(error) === 'EACCES' ? undefined : ''
  }
}

/** Who a process runs as, as far as its folder in /proc tells; undefined when it is gone. */
export const userOf = (pid: number): number | undefined =>
  statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid

function markerIn(environment: string): string {
  const start = environment.indexOf(`\0${MARKER_VARIABLE}=`)
  if (start < 0) return ''
  const from = start + MARKER_VARIABLE.length + 2
  const end = environment.indexOf('\0', from)
  return environment.slice(from, end < 0 ? undefined : end)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

/** When the process started, in ticks; 0 when there is none. */
export const processStart = (pid: number): number => readProcess(pid)?.startedTicks ?? 0

/** Whether the process that started then is still there. */
export const isSameProcess = (pid: number, startedTicks: number): boolean =>
  startedTicks !== 0 && processStart(pid) === startedTicks
