export { CheckerBusy, WorkflowChecker, type CheckerOptions } from './check/checker.ts'
export { lint, type LintOptions } from './check/lint.ts'
export { needsTarget } from './check/needs-target.ts'
export { lintPaths, type LintedPaths } from './check/lint-paths.ts'
export { renderProblems, type ProblemFormat } from './check/render-problems.ts'
export { Engine } from './execute/engine.ts'
export { evaluateAlone, type AloneResult } from './execute/evaluate-alone.ts'
export { countSteps, execute } from './execute/execute.ts'
export {
  CONSOLE_LIMITS,
  FunctionConsole,
  listFunctions,
  type ConsoleOutcome,
  type ListedFunction,
} from './execute/function-console.ts'
export { EXECUTE_LIMITS, type ExecuteInput, type ExecuteLimits, type ExecuteResult } from './execute/input.ts'
export type { Folders, Owner, Ports } from './execute/surroundings.ts'
export { targetMismatch } from './execute/dependencies.ts'
export { checkParams } from './execute/params.ts'
export { scopeParams } from './params/scope-params.ts'
export { givenOf, type Given, type GivenSettings } from './given.ts'
export { Mask } from './secrets/mask.ts'
export { isKnownDomain, localSpace, targetSpace, type LocalTarget } from './execute/target.ts'
export { parseAllowedPaths, type AllowedPath } from './functions/allowed.ts'
export type * from './functions/services.ts'
export { FUNCTION_GROUPS, FUNCTIONS } from './functions/registry.ts'
export type { FunctionDefinition, FunctionGroup } from './functions/define.ts'
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
export { openFile, type FileLibraryOptions } from './library/file-library.ts'
export { folderSource, memorySource, type SourceEntry, type WorkflowSource } from './library/source.ts'
export { READ_LIMITS, type ReadLimits } from './limits.ts'
export { askLlm, toChatAnswer, usageOf, type LlmOutcome, type LlmRequest } from './llm/client.ts'
export type * from './model.ts'
export { hasErrors, inOrder, placeOf, WorkflowError, type Problem, type Severity } from './problem.ts'
export { workflowJsonSchema, type JsonSchema } from './read/json-schema.ts'
export { unusablePrograms } from './execute/programs.ts'
export { modulesOf, requirements, runnerOf, runnerProblems, type RunnerProblem } from './requirements.ts'
export { cronProblem, parseCron } from './trigger/cron.ts'
export { manualRefusal } from './trigger/manual.ts'
export { expressionProblems, filterProblem, inputProblem, templateProblem } from './trigger/check.ts'
export type { TriggerFiles } from './trigger/functions.ts'
export { TriggerLanguage, type TriggerEvent } from './trigger/language.ts'
export { parseDuration } from './execute/duration.ts'
export { createNotifyService, type NotifySettings, type TelegramChannel } from './services/notify.ts'
