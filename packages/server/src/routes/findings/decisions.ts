import { Decision, MAX_TAGS, wrapped, type FieldError } from '@scanfarm/contracts'
import type { Caller } from '../../access/authenticator.ts'
import { missing, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { longRowId, timeOf } from '../query.ts'
import { VulnerabilityDetail, vulnerabilityDetail } from './vulnerabilities.ts'

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
export const decisionOf = <C extends Decision>(change: C, path = ''): C =>
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
