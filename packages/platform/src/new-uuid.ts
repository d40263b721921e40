import { readFileSync } from 'node:fs'

/** A random UUID of the kernel, for programs that start often: loading `node:crypto` takes 10 ms. */
export const newUuid = (): string => readFileSync('/proc/sys/kernel/random/uuid', 'latin1').trim()
