export { CheckerBusy, WorkflowChecker, type CheckerOptions } from './check/checker.ts'
export { lint, type LintOptions } from './check/lint.ts'
export { lintPaths, type LintedPaths } from './check/lint-paths.ts'
export { renderProblems, type ProblemFormat } from './check/render-problems.ts'
export { Engine } from './execute/engine.ts'
export { countSteps, execute } from './execute/execute.ts'
export { EXECUTE_LIMITS, type ExecuteInput, type ExecuteLimits, type ExecuteResult } from './execute/input.ts'
export type { Folders, Owner, Ports } from './execute/surroundings.ts'
export { checkParams } from './execute/params.ts'
export { parseAllowedPaths, type AllowedPath } from './functions/allowed.ts'
export type * from './functions/services.ts'
export {
  openLibrary,
  type CheckedFile,
  type LibraryOptions,
  type SourceFile,
  type WorkflowEntry,
  type WorkflowLibrary,
} from './library/library.ts'
export {
  hashResolved,
  parseResolved,
  resolveWorkflow,
  stringifyResolved,
  type ResolvedWorkflow,
} from './library/resolve.ts'
export { folderSource, memorySource, type SourceEntry, type WorkflowSource } from './library/source.ts'
export { READ_LIMITS, type ReadLimits } from './limits.ts'
export type * from './model.ts'
export { hasErrors, inOrder, placeOf, WorkflowError, type Problem, type Severity } from './problem.ts'
export { workflowJsonSchema, type JsonSchema } from './read/json-schema.ts'
export { requirements } from './requirements.ts'
export { cronProblem, parseCron } from './trigger/cron.ts'
export { manualRefusal } from './trigger/manual.ts'
export { inputProblem, TriggerLanguage, type TriggerEvent } from './trigger/language.ts'
export { parseDuration } from './execute/duration.ts'
export { createNotifyService, type NotifySettings, type TelegramChannel } from './services/notify.ts'
