export { resultOf, type ExecResult, type FunctionContext, type FunctionDefinition } from './define.ts'
export type { Folders, Ports } from './environment.ts'
export { readText } from './files/file.ts'
export {
  appendFile,
  asking,
  isThere,
  makeFolder,
  moveFile,
  openNew,
  openToAppend,
  writeText,
} from './files/files.ts'
export { linesOf } from './files/lines.ts'
export {
  askLlm,
  at,
  toChatAnswer,
  usageOf,
  type ChatAnswer,
  type LlmRequest,
  type ToolCall,
} from './llm/client.ts'
export { providersFor } from './llm/providers.ts'
export { sendsNothing } from './local.ts'
export { LOG_FUNCTIONS } from './log.ts'
export { httpRequest, type HttpQuestion } from './network/http-request.ts'
export { isPublic } from './network/public-address.ts'
export { answerJson } from './network/network.ts'
export {
  domainParts,
  isCidr,
  isKnownDomain,
  localSpace,
  targetSpace,
  targetType,
  targetVariables,
  type LocalTarget,
} from './network/target.ts'
export { createNotifyService, type NotifySettings } from './notify/service.ts'
export {
  ForbiddenPath,
  parseAllowedPaths,
  runPath,
  type AllowedPath,
  type FileScope,
} from './paths/allowed.ts'
export { removeTree } from './paths/remove.ts'
export { checkPath } from './paths/run-folder.ts'
export { openSafePath } from './paths/safe-paths.ts'
export { FUNCTIONS, FUNCTION_GROUPS } from './registry.ts'
export type * from './services.ts'
export { JqError } from './text/json.ts'
export { EndRun, SkipModule, StopProgram } from './utility.ts'
export { COMPUTING, READING, callWithoutRun } from './without-run.ts'
