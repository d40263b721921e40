/** Bounds of the executor. */
export interface ExecutorLimits {
  /** Output of a step in its row. */
  readonly tailBytes: number
  /** Output of a step in its log. */
  readonly stepLogBytes: number
  readonly artifactBytes: number
  /** Artifacts of one attempt; further ones are left out. */
  readonly artifacts: number
  /** Steps of one attempt that have a row, and its events; further ones are counted and dropped. */
  readonly steps: number
  readonly events: number
  /** Size of the log of a run; further lines are counted and dropped. */
  readonly runLogBytes: number
  /** UTF-16 units of an error message, and of one exported value. */
  readonly messageChars: number
  readonly exportChars: number
  /** Number of exported values in the row of a step, and their total length. */
  readonly exports: number
  readonly allExportChars: number
  /** Length of names of steps and artifacts, and of paths and descriptions of artifacts. */
  readonly nameChars: number
  readonly pathChars: number
  /** Steps, artifacts and events in one statement for one run. */
  readonly batchItems: number
  /** Approximate text of one statement; a single row may have more. */
  readonly batchChars: number
  /** Rows of one run in its write buffer, and their text; above it no further command of the run starts. */
  readonly backlogItems: number
  readonly backlogChars: number
  /** What one run stores for a later attempt; 0: nothing. */
  readonly resumeBytes: number
  /** The share of its time that a run may wait for that. */
  readonly resumeShare: number
  /** Parsed workflows in memory. */
  readonly cachedWorkflows: number
}

export const EXECUTOR_LIMITS: ExecutorLimits = {
  tailBytes: 16 * 1024,
  stepLogBytes: 64 * 1024 * 1024,
  artifactBytes: 1024 * 1024 * 1024,
  artifacts: 10_000,
  steps: 50_000,
  events: 200_000,
  runLogBytes: 1024 * 1024,
  messageChars: 16 * 1024,
  exportChars: 64 * 1024,
  exports: 500,
  allExportChars: 1024 * 1024,
  nameChars: 1_024,
  pathChars: 4_096,
  batchItems: 500,
  batchChars: 4 * 1024 * 1024,
  backlogItems: 5_000,
  backlogChars: 64 * 1024 * 1024,
  resumeBytes: 256 * 1024 * 1024,
  resumeShare: 0.03,
  cachedWorkflows: 64,
}

/** Times of the executor, in milliseconds. */
export interface ExecutorTimes {
  /** Longest time that a change waits in the write buffer. */
  readonly flushMs: number
  /** The same for output alone, so that a busy step does not rewrite its row five times a second. */
  readonly outputFlushMs: number
  /** While runs are executing, cancel requests are queried this often. */
  readonly cancelPollMs: number
  /** First and longest wait after a failed call of the store. */
  readonly retryFirstMs: number
  readonly retryMostMs: number
  /** Longest time to upload a file, retries included, before the run fails. */
  readonly artifactRetryMs: number
  /**
   * While runs are short, a process claims as many runs ahead as end while a claim is made, at most within this time, so
   * that claims come in groups and slots do not wait for them. A more urgent run starts about this much later at most.
   */
  readonly aheadMs: number
  /** A run stores its state for a later attempt at most this often. */
  readonly resumeMs: number
}

export const EXECUTOR_TIMES: ExecutorTimes = {
  flushMs: 200,
  outputFlushMs: 1_000,
  cancelPollMs: 1_000,
  retryFirstMs: 100,
  retryMostMs: 5_000,
  artifactRetryMs: 60_000,
  aheadMs: 60,
  resumeMs: 1_000,
}
