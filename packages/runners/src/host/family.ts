import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { closedCarriers } from './closed-processes.ts'
import type { User } from './launcher.ts'
import { carries, isAlive, listPids, readProcess, type ProcessInfo } from './process-table.ts'

/** A command's process and everything that came from it. */
export interface Family {
  /** Leader of the process group and session; missing when it never became known. */
  readonly leader?: number
  /** Every member carries it, also one that left group, session and parents behind. */
  readonly marker: string
  /** Whom its processes run as, where that is not this program. */
  readonly user?: User
}

/** Processes looked at before other work gets its turn. */
const SCAN_BATCH = 64
const POLL_MS = 10
/** Processes that survive KILL for so long hang in the kernel and end when it lets go of them. */
const GIVE_UP_MS = 10_000
/** A process that shows neither words nor environment for so long is not one that is just starting. */
export const STARTING_MS = 5_000

interface Found {
  readonly members: readonly ProcessInfo[]
  /** Some process did not show yet whose it is: look again. */
  readonly untold: boolean
}

/** Living members, by group, session, descent and marker. Costs about 60 µs for each process of the machine. */
export async function findFamily({ leader, marker, user }: Family): Promise<Found> {
  let untold = false
  const found = new Map<number, ProcessInfo>()
  const others: ProcessInfo[] = []
  const closed: number[] = []
  for (const [index, pid] of listPids().entries()) {
    if (index % SCAN_BATCH === SCAN_BATCH - 1) await nextTurn()
    const info = readProcess(pid)
    if (info === undefined || info.dead || pid === process.pid) continue
    const inGroup = leader !== undefined && (info.group === leader || info.session === leader)
    const belongs = inGroup || carries(info, marker)
    if (belongs === true) found.set(pid, info)
    else others.push(info)
    if (belongs === 'untold') untold = true
    if (belongs === 'closed') closed.push(pid)
  }
  const carriers = new Set(await closedCarriers(closed, marker, user))
  for (const info of others) if (carriers.has(info.pid)) found.set(info.pid, info)
  addDescendants(found, others)
  return { members: [...found.values()], untold }
}

/** Catches members whose environment is closed to us or was overwritten, while their parents live. */
function addDescendants(found: Map<number, ProcessInfo>, others: readonly ProcessInfo[]): void {
  let rest = others
  let before = -1
  while (found.size > before && rest.length > 0) {
    before = found.size
    for (const info of rest) if (found.has(info.parent)) found.set(info.pid, info)
    rest = rest.filter((info) => !found.has(info.pid))
  }
}

/**
 * TERM to the group and its strays, `graceMs` to end by themselves, KILL, then sweeps until none is left. Resolves
 * with the pids that were alive, when all of them are dead.
 */
export async function killFamily(family: Family, graceMs: number): Promise<number[]> {
  const killed = new Set<number>()
  if (graceMs > 0) await terminate(family, graceMs, killed)
  const since = Date.now()
  while (Date.now() - since < GIVE_UP_MS) {
    if (family.leader !== undefined) sendToGroup(family.leader, 'SIGKILL', killed)
    const { members, untold } = await findFamily(family)
    if (members.length === 0 && !(untold && Date.now() - since < STARTING_MS)) break
    signalAll(members, 'SIGKILL', killed)
    await delay(POLL_MS)
  }
  return [...killed].sort((a, b) => a - b)
}

async function terminate(family: Family, graceMs: number, killed: Set<number>): Promise<void> {
  const { members } = await findFamily(family)
  signalAll(members, 'SIGTERM', killed)
  // A stopped process acts on TERM only when it goes on.
  signalAll(members, 'SIGCONT', killed)
  const until = Date.now() + graceMs
  while (Date.now() < until && members.some(isAlive)) await delay(POLL_MS)
}

function signalAll(members: readonly ProcessInfo[], signal: NodeJS.Signals, killed: Set<number>): void {
  for (const { pid } of members) if (send(pid, signal)) killed.add(pid)
}

function sendToGroup(leader: number, signal: NodeJS.Signals, killed: Set<number>): void {
  if (send(-leader, signal) && readProcess(leader)?.dead === false) killed.add(leader)
}

/** False when there is no such process (any more) or it belongs to someone else. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
