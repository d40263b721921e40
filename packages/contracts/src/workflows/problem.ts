import { Type, type Static } from 'typebox'
import { named } from '../objects.ts'

export const WorkflowProblem = named('WorkflowProblem', {
  file: Type.String({ description: 'Name of the file in the form, or `workflow.yaml`' }),
  line: Type.Integer({ description: 'From 1; 0: unknown' }),
  column: Type.Integer({ description: 'From 1; 0: unknown' }),
  rule: Type.String({ description: 'Stable name of the rule, for example `unknown-key`' }),
  severity: Type.Enum(['error', 'warning', 'info']),
  message: Type.String(),
  hint: Type.String({ description: 'How to fix it, or empty' }),
})
export type WorkflowProblem = Readonly<Static<typeof WorkflowProblem>>
