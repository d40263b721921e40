import { readFileSync } from 'node:fs'

/** Bits of include/uapi/linux/capability.h in the kernel. */
const CHOWN = 0n
const DAC_OVERRIDE = 1n
const KILL = 5n
const SETGID = 6n
const SETUID = 7n
const SYS_PTRACE = 19n

export interface Privileges {
  readonly isRoot: boolean
  /** This process may run commands as other users and kill them. */
  readonly changesUsers: boolean
  /** This process may access the files and folders of all users. */
  readonly passesAll: boolean
  /** This process may read the environments of their processes. */
  readonly seesProcesses: boolean
}

/** The privileges of a process, from the text of `/proc/PID/status`. */
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

/** The privileges of this process, which do not change while it runs. */
export const privileges = (): Privileges => (own ??= privilegesOf(readFileSync('/proc/self/status', 'utf8')))
