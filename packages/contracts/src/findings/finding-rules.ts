import { Type, type Static } from 'typebox'
import { FindingState, Severity, Verdict } from './findings.ts'
import { DECISION_LIMITS, FINDING_LIMITS, MAX_TAG_LENGTH } from './limits.ts'
import { Timestamp } from '../resources.ts'
import { SEVERITIES } from './severities.ts'
import { closed, count, flag, named, text } from '../objects.ts'

const glob = (description: string, maxLength = 1024) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description: `${description}; * and ? in any case` }))

/** All fields that are given must match. They compare what scanners reported. */
const Match = closed({
  check: glob('Identifier of the check, or else the title'),
  title: glob('Title'),
  asset: glob('Place, or its host; or an address range like 10.0.0.0/8'),
  workspace: glob('Workspace', FINDING_LIMITS.workspace),
  severity: Type.Optional(
    Type.Array(Severity, { minItems: 1, maxItems: SEVERITIES.length, description: 'One of them' }),
  ),
  tool: glob('Source, or a tag of the scanner', MAX_TAG_LENGTH),
})

const Set = closed({
  verdict: Type.Optional(Type.Enum(['confirmed', 'false_positive', 'accepted'])),
  reason: Type.Optional(Type.String({ maxLength: DECISION_LIMITS.reason, description: 'Of the verdict' })),
  until: Type.Optional(text('When an acceptance ends: RFC 3339')),
  severity: Type.Optional(Severity),
  assignee: Type.Optional(Type.String({ minLength: 1, maxLength: DECISION_LIMITS.assignee })),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: MAX_TAG_LENGTH }), { minItems: 1, maxItems: 32 }),
  ),
})

const name = Type.String({ minLength: 1, maxLength: 128 })
const position = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'Lower ones apply first; default: after all others',
})

/** Part of a rule. */
export const RuleContent = closed(
  {
    name: Type.Optional(name),
    position: Type.Optional(position),
    match: Type.Optional(Match),
    set: Type.Optional(Set),
  },
  { minProperties: 1 },
)
export type RuleContent = Static<typeof RuleContent>

export const NewFindingRule = closed(
  { name, position: Type.Optional(position), match: Match, set: Set },
  { $id: 'NewFindingRule' },
)
export type NewFindingRule = Static<typeof NewFindingRule>

/** A rule that decides about findings. */
export const FindingRule = named('FindingRule', {
  id: Type.Integer(),
  name,
  position,
  match: Match,
  set: Set,
  findings: count('Findings that it matches'),
  created_by: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type FindingRule = Static<typeof FindingRule>

const Side = Type.Object({
  workspace: Type.String(),
  vuln_title: Type.String(),
  vuln_info: Type.String(),
  asset_value: Type.String(),
  state: FindingState,
  verdict: Verdict,
  decided_by: Type.String(),
  severity: Severity,
  tags: Type.Array(Type.String()),
  assignee: Type.String(),
})

/** What a rule would do. */
export const RulePreview = Type.Object({
  matched: count('Findings that it matches, or that it no longer matches'),
  complete: flag('False: it matches more, which were not read'),
  changed: count('Those that would change'),
  findings: Type.Array(Type.Object({ id: Type.Integer(), before: Side, after: Side }), {
    description: 'Newest first',
  }),
})
export type RulePreview = Static<typeof RulePreview>

/** A rule that set fields of a finding. */
export const RuleEffect = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  sets: Type.Array(Type.Enum(['verdict', 'severity', 'assignee', 'tags']), {
    description: 'What it decided, unless a person did',
  }),
})
export type RuleEffect = Static<typeof RuleEffect>
