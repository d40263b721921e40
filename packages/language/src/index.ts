export { lint } from './check/lint.ts'
export { BUILTIN_NAMES, SOMETIMES_NAMES, writtenNames } from './check/names.ts'
export { everyStep } from './check/walk.ts'
export { needsTarget } from './check/needs-target.ts'
export { renderProblems, type ProblemFormat } from './check/render-problems.ts'
export { dated } from './date-layout.ts'
export { inSeconds, parseDuration } from './duration.ts'
export { boundedMessage, codeOf, MESSAGE_CHARS, messageOf } from './error.ts'
export { SHELL_COMMANDS, looksLikeCall, unknownCall } from './expression/calls.ts'
export { joinedArgument, type Joined, type Part } from './expression/joined.ts'
export { evaluateSimple, type Simple, type SimpleScope } from './expression/simple.ts'
export { prepareProgram, type Program } from './expression/source.ts'
export { deciding } from './expression/truth.ts'
export type { KnownFunction } from './function-table.ts'
export { workflowGraph, type LocatedWorkflow } from './graph/workflow-graph.ts'
export type { WorkflowEntry, WorkflowLibrary } from './library/entry.ts'
export { mergeRunnerConfig } from './library/inherit.ts'
export {
  brokenEntry,
  checkFile,
  openSources,
  type CheckedFile,
  type FileOutline,
  type LibraryOptions,
  type SourceFile,
} from './library/library.ts'
export {
  hashResolved,
  parseResolved,
  referencedModule,
  resolveWorkflow,
  stringifyResolved,
  workflowText,
  type ResolvedWorkflow,
} from './library/resolve.ts'
export { memorySource, type SourceEntry, type WorkflowSource } from './library/source.ts'
export { READ_LIMITS, type ReadLimits } from './limits.ts'
export type * from './model.ts'
export { valueProblem } from './params/check-value.ts'
export { scopeParams } from './params/scope-params.ts'
export { ParamValueError, typedValue } from './params/typed-value.ts'
export { WorkflowError, hasErrors, inOrder, placeOf, type Problem } from './problem.ts'
export { looksLikeWorkflow } from './read/document.ts'
export type { FieldType, ObjectSpec } from './read/field.ts'
export { workflowJsonSchema } from './read/json-schema.ts'
export { workflowSpec } from './read/workflow-spec.ts'
export { renderCommand, UnsafeContextError } from './shell/lexer.ts'
export { HARMLESS_TEXT } from './shell/programs.ts'
export { singleQuoted } from './shell/quote.ts'
export { evaluateExpr, type Variables } from './template/evaluate.ts'
export { TemplateError, type Expr } from './template/expression.ts'
export { isTemplate, parseTemplate, type Template } from './template/parse.ts'
export { renderPieces, renderText } from './template/render.ts'
export {
  Text,
  asNumber,
  authored,
  data,
  fromJson,
  isTruthy,
  piecesOf,
  textOf,
  toJson,
  toPlain,
  type Piece,
  type Value,
} from './template/value.ts'
export {
  callProblem,
  expressionProblems,
  filterProblem,
  inputProblem,
  manualRefusal,
  templateProblem,
} from './trigger/check.ts'
export { cronProblem, parseCron } from './trigger/cron.ts'
export { at, eventField, readInput, withHyphens } from './trigger/input.ts'
export { GENERATOR_NAMES, TARGET_TYPES, TEXT_TARGET_TYPES } from './vocabulary.ts'
