import { readFileSync, readdirSync, statSync } from 'node:fs'
import { codeOf } from '@scanfarm/paths'
import { belongsTo, MARKER_VARIABLE } from '../marker.ts'

/** One row of the machine's process table, read from /proc. On other systems than Linux the table is empty. */
export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Clock ticks (10 ms) since the machine started; together with the pid it identifies a process. */
  readonly startedTicks: number
  /** Ended, but not reaped yet. */
  readonly dead: boolean
  /** A kernel thread. */
  readonly ofKernel: boolean
  /** Its program has code: the kernel sets where it starts at the end of an exec, after arguments and environment. */
  readonly hasCode: boolean
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

/** Undefined if the process has ended. */
export function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The second field is the program's name in parentheses, which may itself contain blanks and parentheses.
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedTicks: Number(rest[15]),
    dead: state === 'Z' || state === 'X',
    ofKernel: (Number(rest[2]) & KERNEL_THREAD) !== 0,
    hasCode: rest[19] !== '0',
  }
}

export const isAlive = (known: ProcessInfo): boolean => {
  const now = readProcess(known.pid)
  return now !== undefined && !now.dead && now.startedTicks === known.startedTicks
}

/**
 * Whether a process was started with the marker. `unreadable`: this program may not read its environment. `starting`:
 * it is in the middle of an exec and shows no environment yet.
 */
export function hasMarker(
  { pid, ofKernel }: ProcessInfo,
  marker: string,
): boolean | 'starting' | 'unreadable' {
  const environment = readEnvironment(pid)
  if (environment === undefined) return 'unreadable'
  if (environment === '') return !ofKernel && isStarting(pid) ? 'starting' : false
  return belongsTo(markerIn(`\0${environment}`), marker)
}

/** For a process whose environment was just empty: tells an exec from a process without an environment. */
const isStarting = (pid: number): boolean => {
  const now = readProcess(pid)
  if (now === undefined || now.dead) return false
  const commandLine = readText(`/proc/${pid}/cmdline`)
  return !now.hasCode || commandLine === '' || Boolean(readText(`/proc/${pid}/environ`))
}

/**
 * Undefined if this program may not read it; empty if the process has ended. A process that executes another program
 * meanwhile shows only a part: its environment is read again.
 */
function readEnvironment(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
    return environment !== '' && !environment.endsWith('\0')
      ? readFileSync(`/proc/${pid}/environ`, 'latin1')
      : environment
  } catch (error) {
    return codeOf(error) === 'EACCES' ? undefined : ''
  }
}

/** The owner of the process's folder in /proc; undefined if the process has ended. */
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

/** When the process started, in ticks; 0 if it does not exist. */
export const processStart = (pid: number): number => readProcess(pid)?.startedTicks ?? 0

/** Whether the process that started at that time still exists. */
export const isSameProcess = (pid: number, startedTicks: number): boolean =>
  startedTicks !== 0 && processStart(pid) === startedTicks
