import {
  closed,
  DECISION_LIMITS,
  FindingState,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  SEVERITIES,
  VERDICTS,
  wrapped,
  type FieldError,
} from '@scanfarm/contracts'
import type { FindingChange } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import type { Caller } from '../../access/authenticator.ts'
import { missing, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { longRowId, timeOf } from '../query.ts'
import { VulnerabilityDetail, vulnerabilityDetail } from './vulnerabilities.ts'

const Tag = Type.String({ minLength: 1, maxLength: MAX_TAG_LENGTH })
const Tags = Type.Array(Tag, { minItems: 1, maxItems: MAX_TAGS })
const text = (field: keyof typeof DECISION_LIMITS, description: string) =>
  Type.String({ maxLength: DECISION_LIMITS[field], description })

/** What a person decides about a finding. `null` takes a decision back. */
export const decisionFields = {
  verdict: Type.Optional(
    Type.Union([Type.Enum([...VERDICTS]), Type.Null()], {
      description: 'null takes a verdict back, so that rules decide again; none is a decision against rules',
    }),
  ),
  reason: Type.Optional(text('reason', 'Of the verdict')),
  until: Type.Optional(
    Type.String({ description: 'When an acceptance ends and the finding is open again: RFC 3339' }),
  ),
  severity: Type.Optional(
    Type.Union([Type.Enum([...SEVERITIES]), Type.Null()], { description: 'null: that of the scanner' }),
  ),
  assignee: Type.Optional(Type.Union([text('assignee', ''), Type.Null()], { description: '"": no person' })),
  ticket: Type.Optional(text('ticket', 'Link to a ticket, or ""')),
  tags: Type.Optional(
    Type.Union([Type.Array(Tag, { maxItems: MAX_TAGS }), Type.Null()], {
      description: 'All tags: scans neither remove those nor add missing ones; null: those of the scanner',
    }),
  ),
  add_tags: Type.Optional(Tags),
  remove_tags: Type.Optional(Tags),
  comment: Type.Optional(text('comment', 'Is added to the history')),
  state: Type.Optional({
    ...FindingState,
    description: 'For older clients: gone claims a fix, open takes a verdict back',
  }),
}

const Decision = closed(decisionFields, { minProperties: 1 })
type Decision = Static<typeof Decision>

/** Problems of a decision whose fields are below `path`. */
export const decisionProblems = (change: Decision, path = ''): FieldError[] => [
  ...(change.verdict !== undefined && change.state !== undefined
    ? [{ path: `${path}/state`, message: 'cannot be combined with verdict' }]
    : []),
  ...(change.reason !== undefined && (change.verdict ?? change.state ?? null) === null
    ? [{ path: `${path}/reason`, message: 'is the reason of a verdict: send it together with verdict' }]
    : []),
  ...(change.until !== undefined && change.verdict !== 'accepted'
    ? [{ path: `${path}/until`, message: 'is only for the verdict accepted' }]
    : []),
  ...(change.tags !== undefined && (change.add_tags ?? change.remove_tags) !== undefined
    ? [{ path: `${path}/tags`, message: 'cannot be combined with add_tags and remove_tags' }]
    : []),
]

/** The time of `until`, which must be in the future, in UTC. */
export const untilOf = (until: string, path: string): string => {
  const time = timeOf(path, until)
  if (time.getTime() <= Date.now()) refuse([{ path, message: 'must be in the future' }])
  return time.toISOString()
}

/** The change that the store applies; throws for times that are not in the future. */
export const decisionOf = <C extends Decision>(change: C, path = ''): C & FindingChange =>
  change.until === undefined ? change : { ...change, until: untilOf(change.until, `${path}/until`) }

export const authorOf = ({ kind, name }: Caller): string => `${kind}:${name}`

export const changeVulnerability = route(
  {
    endpoint: 'PATCH /vulnerabilities/{id}',
    summary: 'Decide about one vulnerability',
    description:
      'Sets the verdict with its reason, and the severity, tags, assignee and ticket that a person decides on. Scans and rules do not change them; a finding that is seen again after its fix was claimed is open and marked with back_at. A comment is added to the history.',
    role: 'operator',
    body: Decision,
    responses: { 200: wrapped(VulnerabilityDetail) },
  },
  async ({ store }, { params, body, caller }) => {
    const id = longRowId(params.id)
    refuse(decisionProblems(body))
    const [change] = await store.triage.change([id], decisionOf(body), authorOf(caller))
    if (change?.outcome === 'not_found') throw missing('vulnerability', params.id)
    if (change?.outcome === 'too_many_tags')
      refuse([{ path: '/add_tags', message: `a vulnerability has at most ${MAX_TAGS} tags: remove some` }])
    return { data: await vulnerabilityDetail(store, params.id) }
  },
)
