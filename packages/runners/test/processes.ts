import { randomInt } from 'node:crypto'

export { alive } from '@scanfarm/testing'

/** Limit of a test or hook, in milliseconds: room for two waits. It only ends what hangs. */
export const TEST_MS = 150_000

/** A number for `sleep` by which a process can be found on the machine, whoever started it and wherever it went. */
export const token = (): string => String(randomInt(1_000_000, 2_000_000_000))
