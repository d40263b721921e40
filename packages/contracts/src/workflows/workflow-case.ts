import { Type, type Static } from 'typebox'
import { StepStatus } from '../runs/run-status.ts'
import { closed } from '../objects.ts'

/** A text, or bytes that are no text. */
export const CaseContent = Type.Union([Type.String(), closed({ base64: Type.String() })])
export type CaseContent = Static<typeof CaseContent>

/** One start of a program: what it was called with, and what it did. */
const RecordedCall = closed({
  program: Type.String({ pattern: '^[A-Za-z0-9_.+-]+$' }),
  args: Type.Array(Type.String()),
  exit_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
  stdout: Type.Optional(CaseContent),
  stderr: Type.Optional(CaseContent),
  /** Content by absolute path, with placeholders. */
  files: Type.Optional(Type.Record(Type.String(), CaseContent)),
})
export type RecordedCall = Static<typeof RecordedCall>

const StepFacts = closed({
  status: StepStatus,
  error: Type.Optional(Type.String()),
  exports: Type.Optional(Type.Record(Type.String(), Type.String())),
})

const Programs = Type.Array(Type.String({ pattern: '^[A-Za-z0-9_.+-]+$' }))

const CaseExpected = closed({
  status: Type.String(),
  outcome: Type.String(),
  reasons: Type.Array(Type.String()),
  /** By key; a status alone where a step has neither an error nor exports. */
  steps: Type.Record(Type.String(), Type.Union([StepStatus, StepFacts])),
  findings: Type.Array(Type.String()),
  assets: Type.Array(Type.String()),
  files: Type.Record(Type.String(), CaseContent),
})
export type CaseExpected = Static<typeof CaseExpected>

export const WorkflowCase = closed({
  target: Type.String(),
  params: Type.Record(Type.String(), Type.String()),
  /** The time of the run. */
  at: Type.String({ format: 'date-time' }),
  /** Addresses by host name. */
  names: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
  /** Programs that the recording replaces: a call that it does not have fails. */
  programs: Programs,
  /** Programs that the machine of the run does not have. */
  without: Type.Optional(Programs),
  calls: Type.Array(RecordedCall),
  expect: CaseExpected,
})
export type WorkflowCase = Static<typeof WorkflowCase>
