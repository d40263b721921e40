/** Bounds of the executor. */
export const EXECUTOR_LIMITS = {
  /** Output of a step in its row. */
  tailBytes: 16 * 1024,
  /** Output of a step in its log. */
  stepLogBytes: 64 * 1024 * 1024,
  artifactBytes: 1024 * 1024 * 1024,
  /** Artifacts of one attempt; further ones are left out. */
  artifacts: 10_000,
  /** Steps of one attempt that have a row, and its events; further ones are counted and dropped. */
  steps: 50_000,
  events: 200_000,
  /** Size of the log of a run; further lines are counted and dropped. */
  runLogBytes: 1024 * 1024,
  /** UTF-16 units of an error message, and of one exported value. */
  messageChars: 16 * 1024,
  exportChars: 64 * 1024,
  /** Number of exported values in the row of a step, and their total length. */
  exports: 500,
  allExportChars: 1024 * 1024,
  /** Length of names of steps and artifacts, and of paths and descriptions of artifacts. */
  nameChars: 1_024,
  pathChars: 4_096,
  /** Steps, artifacts and events in one statement for one run. */
  batchItems: 500,
  /** Approximate text of one statement; a single row may have more. */
  batchChars: 4 * 1024 * 1024,
  /** Rows of one run in its write buffer, and their text; above it no further command of the run starts. */
  backlogItems: 5_000,
  backlogChars: 64 * 1024 * 1024,
  /** What one run stores for a later attempt; 0: nothing. */
  resumeBytes: 256 * 1024 * 1024,
  /** The share of its time that a run may wait for that. */
  resumeShare: 0.03,
  /** Parsed workflows in memory. */
  cachedWorkflows: 64,
}
export type ExecutorLimits = Readonly<typeof EXECUTOR_LIMITS>

/** Times of the executor, in milliseconds. */
export const EXECUTOR_TIMES = {
  /** Longest time that a change waits in the write buffer. */
  flushMs: 200,
  /** The same for output alone, so that a busy step does not rewrite its row five times a second. */
  outputFlushMs: 1_000,
  /** While runs are executing, cancel requests are queried this often. */
  cancelPollMs: 1_000,
  /** First and longest wait after a failed call of the store. */
  retryFirstMs: 100,
  retryMostMs: 5_000,
  /** Longest time to upload a file, retries included, before the run fails. */
  artifactRetryMs: 60_000,
  /**
   * While runs are short, a process claims as many runs ahead as end while a claim is made, at most within this time, so
   * that claims come in groups and slots do not wait for them. A more urgent run starts about this much later at most.
   */
  aheadMs: 60,
  /** A run stores its state for a later attempt at most this often. */
  resumeMs: 1_000,
}
export type ExecutorTimes = Readonly<typeof EXECUTOR_TIMES>
