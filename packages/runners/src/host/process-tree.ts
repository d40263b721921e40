import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Owner } from '@scanfarm/contracts'
import type { Interrupts } from '../interruption.ts'
import { findMarkedUnreadable } from './unreadable-processes.ts'
import { hasMarker, isAlive, listPids, readProcess, type ProcessInfo } from './process-table.ts'

/** The process of a command and all its descendants. */
export interface ProcessTree {
  /** Leader of the process group and session; missing if it is unknown. */
  readonly leader?: number
  /** In the environment of every member, including orphans that left group and session. */
  readonly marker: string
  /** The user of its processes; missing: the user of this program. */
  readonly user?: Owner
}

/** Processes read before the event loop gets its turn. */
const SCAN_BATCH = 64
const POLL_MS = 10
/** The kernel cuts longer names of processes. */
const NAME_LENGTH = 15
/** A process that survives KILL for this long hangs in the kernel. */
const GIVE_UP_MS = 10_000
/** A process that shows neither arguments nor environment for this long is not about to start. */
export const STARTING_MS = 5_000

interface Found {
  readonly members: readonly ProcessInfo[]
  /** Some process does not show its environment yet: search again. */
  readonly starting: boolean
}

/** Finds living members by group, session, descent and marker. Costs about 60 µs for each process of the machine. */
export async function findProcessTree({ leader, marker, user }: ProcessTree): Promise<Found> {
  let starting = false
  const found = new Map<number, ProcessInfo>()
  const others: ProcessInfo[] = []
  const unreadable: number[] = []
  for (const [index, pid] of listPids().entries()) {
    if (index % SCAN_BATCH === SCAN_BATCH - 1) await nextTurn()
    const info = readProcess(pid)
    if (info === undefined || info.dead || pid === process.pid) continue
    // A leader that was just created has neither its group nor its session yet.
    const inGroup = leader !== undefined && [pid, info.group, info.session].includes(leader)
    const belongs = inGroup || hasMarker(info, marker)
    if (belongs === true) found.set(pid, info)
    else others.push(info)
    if (belongs === 'starting') starting = true
    if (belongs === 'unreadable') unreadable.push(pid)
  }
  const marked = new Set(await findMarkedUnreadable(unreadable, marker, user))
  for (const info of others) if (marked.has(info.pid)) found.set(info.pid, info)
  addDescendants(found, others)
  return { members: [...found.values()], starting }
}

/** Finds members whose environment is unreadable or was overwritten, as long as their parents live. */
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
 * Sends TERM to the whole tree, or INT to some programs, waits up to `graceMs`, then sends KILL until no process is left.
 * Resolves with the pids that were alive, when all of them are dead. `inTime`: programs that get INT may take
 * longer, as long as it is true.
 */
export async function killProcessTree(
  tree: ProcessTree,
  graceMs: number,
  { interrupts, inTime }: { interrupts?: Interrupts | undefined; inTime?: () => boolean } = {},
): Promise<number[]> {
  const killed = new Set<number>()
  if (graceMs > 0) {
    await terminate(tree, killed, ({ pid }) => {
      const needsMs =
        interrupts &&
        namesOf(pid)
          .map((name) => interrupts.get(name))
          .find(Boolean)
      if (needsMs === undefined) return { signal: 'SIGTERM', mayWait: (ms) => ms < graceMs }
      return { signal: 'SIGINT', mayWait: (ms) => ms < (inTime?.() ? Math.max(graceMs, needsMs) : graceMs) }
    })
  }
  const since = Date.now()
  while (Date.now() - since < GIVE_UP_MS) {
    if (tree.leader !== undefined) sendToGroup(tree.leader, 'SIGKILL', killed)
    const { members, starting } = await findProcessTree(tree)
    if (members.length === 0 && !(starting && Date.now() - since < STARTING_MS)) break
    signalAll(members, 'SIGKILL', killed)
    await delay(POLL_MS)
  }
  return [...killed].sort((a, b) => a - b)
}

async function terminate(
  tree: ProcessTree,
  killed: Set<number>,
  stopOf: (member: ProcessInfo) => { signal: NodeJS.Signals; mayWait(ms: number): boolean },
): Promise<void> {
  const { members } = await findProcessTree(tree)
  const since = Date.now()
  const waiting = members.map((member) => ({ member, ...stopOf(member) }))
  for (const { member, signal } of waiting) signalAll([member], signal, killed)
  // A stopped process handles a signal only after it is continued.
  signalAll(members, 'SIGCONT', killed)
  while (waiting.some(({ member, mayWait }) => mayWait(Date.now() - since) && isAlive(member)))
    await delay(POLL_MS)
}

/** A script has the name of its interpreter if `env` started it, and is the first argument. None of a process that has ended. */
const namesOf = (pid: number): readonly string[] => {
  try {
    const [name, words] = ['comm', 'cmdline'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
    const programs = (words ?? '').split('\0', 2).map((word) => basename(word).slice(0, NAME_LENGTH))
    return [(name ?? '').trim(), ...programs]
  } catch {
    return []
  }
}

function signalAll(members: readonly ProcessInfo[], signal: NodeJS.Signals, killed: Set<number>): void {
  for (const { pid } of members) if (send(pid, signal)) killed.add(pid)
}

function sendToGroup(leader: number, signal: NodeJS.Signals, killed: Set<number>): void {
  if (send(-leader, signal) && readProcess(leader)?.dead === false) killed.add(leader)
}

/** False if the process does not exist or belongs to another user. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
