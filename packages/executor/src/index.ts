export { DEFAULT_PATH } from './environment.ts'
export { Executor, type ExecutorStatus } from './executor.ts'
export type { Owner } from './folders.ts'
export {
  demandIsolation,
  describeIsolation,
  findIsolation,
  logIsolation,
  openSecrets,
  type Isolation,
  type IsolationSettings,
} from './isolation.ts'
export { EXECUTOR_LIMITS, EXECUTOR_TIMES, type ExecutorLimits, type ExecutorTimes } from './limits.ts'
export { createPolledSource, type PolledSource } from './polled-source.ts'
export { llmSettings } from './llm-settings.ts'
export type { ExecutorLog } from './log.ts'
export type { ExecutorOptions, RunEnding } from './options.ts'
export type { Introduction } from './presence.ts'
export {
  executorSettings,
  homesOf,
  logFolders,
  openRunners,
  workFolderOf,
  type ExecutorSettings,
} from './settings.ts'
export { folderProblems, openToolFolders, type ToolFolders } from './tool-folders.ts'
export { openUsers } from './users/open-users.ts'
export type { RunSource } from './source.ts'
export { createSweep, SWEEP_EVERY_MS, type SweepOptions } from './sweep.ts'
export { pathState, programsOn, usableTools, type ToolPlaces } from './tools.ts'
