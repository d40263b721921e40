import type { AnyNode } from 'acorn'
import type { Action, Workflow } from '../model.ts'
import { everyStep } from './walk.ts'

/** Variables that every run has; a test compares this list with what a run really sets. */
export const BUILTIN_NAMES: readonly string[] = [
  'BaseFolder', 'Binaries', 'Data', 'ExternalData', 'ExternalConfigs', 'ExternalAgentConfigs', 'ExternalAgents', 'ExternalScripts',
  'Workflows', 'MarkdownTemplates', 'ExternalMarkdowns', 'SnapshotsFolder', 'Workspaces', 'Output', 'TargetSpace', 'Workspace',
  'space_name', 'TempDir', 'TempFile', 'StateExecutionLog', 'StateConsoleLog', 'StateCompletedFile', 'StateFile',
  'StateWorkflowFile', 'StateWorkflowFolder', 'Target', 'target', 'TargetFile', 'PlatformOS', 'PlatformArch', 'HeuristicsCheck',
  'RunUUID', 'TaskDate', 'Today', 'CurrentTime', 'RandomString', 'FlowName', 'flow_name', 'ModuleName', 'threads', 'baseThreads',
  'DBRunID', 'Rate', 'TimeStamp', 'HooksEnabled', 'Version', 'PlatformInDocker', 'PlatformInKubernetes', 'PlatformCloudProvider',
  'workspaces_folder',
] // prettier-ignore

/** Variables that exist only for some targets or some ways to start a run. */
export const SOMETIMES_NAMES: readonly string[] = [
  'TargetType', 'TargetBaseURL', 'TargetRootURL', 'TargetHostname', 'TargetHost', 'TargetPort', 'TargetPath', 'TargetFileExt',
  'TargetScheme', 'TargetRootDomain', 'TargetTLD', 'TargetSLD', 'Org', 'TargetRepoSlug', 'TargetIsWildcard', 'TargetResolvedIP',
  'TargetStatusCode', 'TargetContentLength', 'EventEnvelope', 'EventTopic', 'EventSource', 'EventDataType', 'EventTimestamp',
  'EventData', 'ChunkIndex', 'ChunkSize', 'TotalChunks', 'ChunkStart', 'ChunkEnd', 'target_file', 'tactic', 'threads_hold', 'exclude_modules', 'fuzzy_exclude_modules',
  'heuristics_check',
] // prettier-ignore

/** Variables that steps set without an export. */
const RESULT_NAMES: readonly string[] = [
  'stdout', 'StepOutput', 'output', 'result', 'exit_code', 'foreach_total', 'foreach_completed', 'foreach_failed',
  'agent_content', 'agent_history', 'agent_iterations', 'agent_total_tokens', 'agent_prompt_tokens', 'agent_completion_tokens',
  'agent_tool_results', 'agent_plan', 'agent_goal_results', 'args', 'event', 'tool', 'iteration',
] // prettier-ignore

const ownExports = (name = ''): string[] => {
  const base = name.replaceAll(/\W/g, '_')
  return [`${base}_http_resp`, `${base}_llm_resp`, `${base}_content`]
}

/**
 * Names of the variables that steps, hooks and actions of the workflow set, except those that functions set. `inLoops`:
 * also those that exist only in a loop.
 */
export const writtenNames = (workflow: Workflow, inLoops = true): Set<string> => {
  const names = new Set(RESULT_NAMES)
  const addActions = (actions: readonly Action[] = []): void => {
    for (const { action, name } of actions) if (action === 'export' && name !== undefined) names.add(name)
  }
  for (const { step, loopNames } of everyStep(workflow)) {
    for (const name of [...Object.keys(step.exports ?? {}), ...ownExports(step.name)]) names.add(name)
    if (inLoops) for (const name of loopNames) names.add(name)
    addActions(step.on_success)
    addActions(step.on_error)
  }
  for (const { exports = {}, on_success: done, on_error: failed } of workflow.modules ?? []) {
    for (const name of Object.keys(exports)) names.add(name)
    addActions(done)
    addActions(failed)
  }
  return names
}

/** All names that the texts of the workflow may refer to. */
export const definedNames = (workflow: Workflow): Set<string> => {
  const names = writtenNames(workflow, false).union(new Set([...BUILTIN_NAMES, ...SOMETIMES_NAMES]))
  for (const { name = '' } of workflow.params ?? []) names.add(name)
  for (const ref of workflow.modules ?? []) for (const name of Object.keys(ref.params ?? {})) names.add(name)
  for (const { input = {} } of [...(workflow.triggers ?? []), ...(workflow.override?.triggers ?? [])]) {
    for (const name of Object.keys(input)) names.add(name)
    // The older form: `{type: event_data, field, name}`.
    if (typeof input['name'] === 'string') names.add(input['name'])
  }
  for (const name of Object.keys(workflow.override?.params ?? {})) names.add(name)
  // A param without a name.
  names.delete('')
  return names
}

/** Globals of JavaScript that expressions may use. */
export const SCRIPT_GLOBALS: ReadonlySet<string> = new Set(
  (
    'Array BigInt Boolean Date Error Function Infinity JSON Map Math NaN Number Object Promise Proxy RangeError Reflect RegExp Set ' +
    'String Symbol SyntaxError TypeError Uint8Array WeakMap WeakSet console decodeURI decodeURIComponent encodeURI ' +
    'encodeURIComponent escape unescape globalThis isFinite isNaN parseFloat parseInt undefined'
  ).split(' '),
)

export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'if else for while do switch case default break continue return throw try catch finally function var let const new typeof ' +
    'void delete in of instanceof this class extends super yield async await true false null import export'
  ).split(' '),
)

/** The names that a binding or assignment gives values to: `{ a, b: [, c = 1] }` has a and c. */
const boundNames = function* (pattern: AnyNode | null): Generator<string> {
  if (pattern === null) return
  if (pattern.type === 'Identifier') yield pattern.name
  else if (pattern.type === 'ObjectPattern')
    for (const part of pattern.properties) yield* boundNames(part.type === 'Property' ? part.value : part)
  else if (pattern.type === 'ArrayPattern') for (const part of pattern.elements) yield* boundNames(part)
  else if (pattern.type === 'AssignmentPattern') yield* boundNames(pattern.left)
  else if (pattern.type === 'RestElement') yield* boundNames(pattern.argument)
}

const namesOfNode = function* (node: AnyNode): Generator<string> {
  if ('params' in node) for (const param of node.params) yield* boundNames(param)
  if ('id' in node) yield* boundNames(node.id ?? null)
  if (node.type === 'CatchClause') yield* boundNames(node.param ?? null)
  else if (node.type === 'AssignmentExpression') yield* boundNames(node.left)
  else if (node.type === 'LabeledStatement') yield node.label.name
  else if (node.type === 'ForInStatement' || node.type === 'ForOfStatement') yield* boundNames(node.left)
  else if (node.type === 'Property' && !node.computed && !node.shorthand) yield* boundNames(node.key)
  else if ((node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') && !node.computed)
    if (node.key.type === 'Identifier') yield node.key.name
}

/** Names that an expression defines itself, or writes as keys of objects. */
export const ownNames = (program: readonly AnyNode[]): Set<string> =>
  new Set(program.flatMap((node) => [...namesOfNode(node)]))
