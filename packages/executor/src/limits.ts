/** Every bound of the executor; each can be set. */
export interface ExecutorLimits {
  /** Output of a step in its row. */
  readonly tailBytes: number
  /** Output of a step in its log. */
  readonly stepLogBytes: number
  readonly artifactBytes: number
  /** Artifacts of one attempt; more are refused. */
  readonly artifacts: number
  /** Steps of one attempt that have a row, and events that it may raise; more are counted and dropped. */
  readonly steps: number
  readonly events: number
  /** Lines of a run's own log are kept up to here, then counted. */
  readonly runLogBytes: number
  /** Units of UTF-16 of an error message, and of one exported value. */
  readonly messageChars: number
  readonly exportChars: number
  /** Exported values of a step in its row, and all of them together. */
  readonly exports: number
  readonly allExportChars: number
  /** Names of steps and artifacts; paths and descriptions of artifacts. */
  readonly nameChars: number
  readonly pathChars: number
  /** Steps, artifacts and events in one statement for one run. */
  readonly batchItems: number
  /** About how much text these have together; a single one may have more. */
  readonly batchChars: number
  /** Facts of one run that wait to be written, and their text; above it no further command of the run starts. */
  readonly backlogItems: number
  readonly backlogChars: number
  /** Parsed workflows kept in memory. */
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
  cachedWorkflows: 64,
}

/** Times of the executor, in milliseconds. */
export interface ExecutorTimes {
  /** Longest time until a fact is on its way to Postgres; what happens meanwhile travels with it. */
  readonly flushMs: number
  /** The same for output alone: a busy step must not rewrite its row five times a second. */
  readonly outputFlushMs: number
  /** While runs are under way, cancel requests are looked for this often. */
  readonly cancelPollMs: number
  /** First and longest wait after a failed call of the store. */
  readonly retryFirstMs: number
  readonly retryMostMs: number
  /** How long a file may take to get into the artifact store, retries included, before the run fails. */
  readonly artifactRetryMs: number
}

export const EXECUTOR_TIMES: ExecutorTimes = {
  flushMs: 200,
  outputFlushMs: 1_000,
  cancelPollMs: 1_000,
  retryFirstMs: 100,
  retryMostMs: 5_000,
  artifactRetryMs: 60_000,
}
