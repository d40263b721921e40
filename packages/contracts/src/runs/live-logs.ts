/**
 * While a run is followed, its worker keeps a live copy of its logs in the artifact store: blocks of this size, of which
 * the last one is replaced while it grows. So the key of any byte is known, and a log of any age has few objects.
 */
export const LIVE_BLOCK_BYTES = 128 * 1024

/** A log of an attempt: that of the run, or the output of the step with this `seq`. */
export type LogName = 'run' | number

/** Prefix of the keys of an attempt in the artifact store. */
export const attemptPrefix = (runUuid: string, attempt: number): string => `runs/${runUuid}/${attempt}`

/** File name of what the workflow and the engine logged. */
export const RUN_LOG_NAME = 'run-execution.log'

/** Key prefix of the live copy of a log. */
export const liveFolder = (prefix: string, log: LogName): string => `${prefix}/live/${log}`

/** Key of the block that contains the byte at this offset. */
export const liveBlockKey = (prefix: string, log: LogName, offset: number): string =>
  `${liveFolder(prefix, log)}/${Math.floor(offset / LIVE_BLOCK_BYTES)}`
