import { Type, type Static } from 'typebox'
import { FindingState, VERDICTS } from './findings.ts'
import { DECISION_LIMITS, MAX_TAG_LENGTH, MAX_TAGS } from './limits.ts'
import { SEVERITIES } from './severities.ts'
import { closed, nullable, text } from '../objects.ts'
import { Timestamp } from '../resources.ts'

const Tag = Type.String({ minLength: 1, maxLength: MAX_TAG_LENGTH })
const Tags = Type.Array(Tag, { minItems: 1, maxItems: MAX_TAGS })
const limited = (field: keyof typeof DECISION_LIMITS, description: string) =>
  Type.String({ maxLength: DECISION_LIMITS[field], description })

/** What a person decides about a finding. `null` takes a decision back: rules and scans decide again. */
export const Decision = closed(
  {
    verdict: Type.Optional(
      nullable(
        Type.Enum([...VERDICTS]),
        'null takes a verdict back, so that rules decide again; none is a decision against rules',
      ),
    ),
    reason: Type.Optional(limited('reason', 'Of the verdict')),
    until: Type.Optional(text('When an acceptance ends and the finding is open again: RFC 3339')),
    severity: Type.Optional(nullable(Type.Enum([...SEVERITIES]), 'null: that of the scanner')),
    assignee: Type.Optional(nullable(limited('assignee', ''), '"": no person')),
    ticket: Type.Optional(limited('ticket', 'Link to a ticket, or ""')),
    tags: Type.Optional(
      nullable(
        Type.Array(Tag, { maxItems: MAX_TAGS }),
        'All tags: scans neither remove those nor add missing ones; null: those of the scanner',
      ),
    ),
    add_tags: Type.Optional(Tags),
    remove_tags: Type.Optional(Tags),
    comment: Type.Optional(limited('comment', 'Is added to the history')),
    state: Type.Optional({
      ...FindingState,
      description: 'For older clients: gone claims a fix, open takes a verdict back',
    }),
  },
  { minProperties: 1 },
)
export type Decision = Static<typeof Decision>

/** How one of many decisions ended. */
export const DecisionOutcome = Type.Object({
  id: Type.Integer(),
  outcome: Type.Enum(['changed', 'unchanged', 'deleted', 'not_found', 'too_many_tags'], {
    description: `too_many_tags: it would have more than ${MAX_TAGS} tags and was not changed`,
  }),
})
export type DecisionOutcome = Static<typeof DecisionOutcome>

export const FindingHistoryEntry = Type.Object({
  changed_at: Timestamp,
  changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() })),
  changed_by: text('The user or token that changed it, expiry, or ""'),
  comment: Type.String(),
  run_uuid: text('The run whose scan changed it, or ""'),
  run_id: nullable(Type.Integer(), 'Of this run'),
})
export type FindingHistoryEntry = Static<typeof FindingHistoryEntry>
