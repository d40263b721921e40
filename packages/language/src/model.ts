import type { ObjectSpec } from './read/field.ts'
import type * as step from './read/step-spec.ts'
import type * as workflow from './read/workflow-spec.ts'

/**
 * A workflow file after reading: plain JSON with the field names of the language. The tables of the language say which
 * fields an object has and what they are for.
 */

export type { Json } from './read/field.ts'
export type { Step, SubAgent } from './read/step-spec.ts'
export type { ModuleRef, Param, Workflow } from './read/workflow-spec.ts'

type Of<Spec> = Spec extends ObjectSpec<infer Value> ? Value : never

export type Action = Of<typeof step.actionSpec>
export type AgentTool = Of<typeof step.agentToolSpec>
export type Branch = Of<typeof step.branchSpec>
export type Decision = Of<typeof step.decisionSpec>
export type LlmConfig = Of<typeof step.llmConfigSpec>
export type LlmMessage = Of<typeof step.messageSpec>
export type Retry = Of<typeof step.retrySpec>
export type RunnerConfig = Of<typeof step.runnerConfigSpec>
export type Spread = Of<typeof step.spreadSpec>
export type StepType = (typeof step.STEP_TYPES)[number]
export type Dependencies = Of<typeof workflow.dependenciesSpec>
export type Hooks = Of<typeof workflow.hooksSpec>
export type Override = Of<typeof workflow.overrideSpec>
export type Preferences = Of<typeof workflow.preferencesSpec>
export type Report = Of<typeof workflow.reportSpec>
export type Trigger = Of<typeof workflow.triggerSpec>
