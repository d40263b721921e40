import { readFileSync } from 'node:fs'

/** Bits of the kernel's include/uapi/linux/capability.h. */
const CHOWN = 0n
const DAC_OVERRIDE = 1n
const KILL = 5n
const SETGID = 6n
const SETUID = 7n
const SYS_PTRACE = 19n

export interface Privileges {
  readonly isRoot: boolean
  /** What it takes to run commands as other users and to end them. */
  readonly changesUsers: boolean
  /** Files and folders of all users are open to this program. */
  readonly passesAll: boolean
  /** So are the environments of their processes. */
  readonly seesProcesses: boolean
}

/** Of a process, by the text of `/proc/PID/status`. */
export const privilegesOf = (status: string): Privileges => {
  const held = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`)
  const has = (...bits: readonly bigint[]): boolean => bits.every((bit) => (held & (1n << bit)) !== 0n)
  return {
    isRoot: /^Uid:\s+\d+\s+0\s/m.test(status),
    changesUsers: has(SETUID, SETGID, KILL, CHOWN),
    passesAll: has(DAC_OVERRIDE),
    seesProcesses: has(SYS_PTRACE),
  }
}

let own: Privileges | undefined

/** Of this program; they do not change while it runs. */
export const privileges = (): Privileges => (own ??= privilegesOf(readFileSync('/proc/self/status', 'utf8')))
