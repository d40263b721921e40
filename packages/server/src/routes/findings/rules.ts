import { isIP } from 'node:net'
import {
  AppError,
  closed,
  FindingRule,
  NewFindingRule,
  RuleContent,
  RulePreview,
  wrapped,
  type FieldError,
} from '@scanfarm/contracts'
import { MAX_RULES, PREVIEW, type Store } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { found, missing, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { authorOf, untilOf } from './decisions.ts'

const RulePath = Type.Object({ rule: Type.String({ description: 'Id or name' }) })
const Saved = Type.Object({
  data: FindingRule,
  changed: Type.Integer({ minimum: 0, description: 'Findings that it changed' }),
})
type Content = Static<typeof RuleContent>

const hasField = (fields: object): boolean => Object.values(fields).some((value) => value !== undefined)

const problemsOf = ({ name, match, set }: Content): FieldError[] => [
  ...(name !== undefined && !/[^\d\s]/.test(name)
    ? [{ path: '/name', message: 'must contain something else than digits and spaces, which are ids' }]
    : []),
  ...(match !== undefined && !hasField(match)
    ? [{ path: '/match', message: 'must have a field; {"title": "*"} matches every finding' }]
    : []),
  ...(set !== undefined && set.verdict === undefined && (set.reason ?? set.until) !== undefined
    ? [{ path: '/set/verdict', message: 'is required with reason and until' }]
    : []),
  ...(set !== undefined && !hasField(set)
    ? [{ path: '/set', message: 'must have one of verdict, severity, assignee and tags' }]
    : []),
  ...(set?.until !== undefined && set.verdict !== 'accepted'
    ? [{ path: '/set/until', message: 'is only for the verdict accepted' }]
    : []),
]

/** Whether an asset is an address range; throws for one that is none although it looks like one. */
const isNetwork = (asset: string | undefined): boolean => {
  const [, address = '', bits = ''] = /^([^/]*)\/(\d{1,3})$/.exec(asset ?? '') ?? []
  const version = isIP(address)
  if (version === 0) return false
  if (Number(bits) > (version === 4 ? 32 : 128))
    refuse([{ path: '/match/asset', message: 'is not an address range, for example 10.0.0.0/8' }])
  return true
}

/** A valid rule; its end is in UTC. */
const checked = <C extends Content>(content: C): { rule: C; network: boolean } => {
  refuse(problemsOf(content))
  const { set } = content
  const rule =
    set?.until === undefined
      ? content
      : { ...content, set: { ...set, until: untilOf(set.until, '/set/until') } }
  return { rule, network: isNetwork(content.match?.asset) }
}

const find = async ({ rules }: Store, ref: string): Promise<FindingRule> => {
  const rule = found('rule', ref, await rules.find(ref))
  return rule
}

type Outcome = Awaited<ReturnType<Store['rules']['add']>>

/** The saved rule; throws if it was not saved. */
const savedOf = (outcome: Outcome, name: string | undefined, none: AppError) => {
  if (outcome === 'taken') throw new AppError('conflict', `there is already a rule ${JSON.stringify(name)}`)
  if (outcome?.rule === undefined) throw none
  return { data: outcome.rule, changed: outcome.changed }
}

export const listFindingRules = route(
  {
    endpoint: 'GET /finding-rules',
    summary: 'List the rules that decide about findings, in the order in which they apply',
    role: 'viewer',
    responses: { 200: wrapped(Type.Array(FindingRule)) },
  },
  async ({ store }) => ({ data: await store.rules.list() }),
)

export const getFindingRule = route(
  {
    endpoint: 'GET /finding-rules/{rule}',
    summary: 'Read one rule',
    role: 'viewer',
    params: RulePath,
    responses: { 200: wrapped(FindingRule) },
  },
  async ({ store }, { params }) => ({ data: await find(store, params.rule) }),
)

export const addFindingRule = route(
  {
    endpoint: 'POST /finding-rules',
    summary: 'Add a rule and apply it to present and future findings',
    description: `For each field the first rule by position that matches and sets it decides; tags of all rules are added. What a person decided about a finding wins over rules. A farm has at most ${MAX_RULES} rules.`,
    role: 'operator',
    body: NewFindingRule,
    responses: { 201: Saved },
    errors: ['conflict'],
  },
  async ({ store }, { body, caller }) => {
    const { rule, network } = checked(body)
    const outcome = await store.rules.add(rule, network, authorOf(caller))
    const full = new AppError(
      'conflict',
      `there are ${MAX_RULES} rules, the most that a farm has: remove one`,
    )
    return savedOf(outcome, body.name, full)
  },
)

export const changeFindingRule = route(
  {
    endpoint: 'PATCH /finding-rules/{rule}',
    summary: 'Change a rule and apply it again',
    description: 'match and set replace the stored ones as a whole.',
    role: 'operator',
    params: RulePath,
    body: RuleContent,
    responses: { 200: Saved },
    errors: ['conflict'],
  },
  async ({ store }, { params, body, caller }) => {
    const { rule, network } = checked(body)
    const { id } = await find(store, params.rule)
    const outcome = await store.rules.change(id, rule, network, authorOf(caller))
    return savedOf(outcome, body.name, missing('rule', params.rule))
  },
)

export const removeFindingRule = route(
  {
    endpoint: 'DELETE /finding-rules/{rule}',
    summary: 'Remove a rule and what it set',
    role: 'operator',
    params: RulePath,
    responses: { 200: Type.Object({ message: Type.String(), changed: Type.Integer({ minimum: 0 }) }) },
  },
  async ({ store }, { params, caller }) => {
    const { id } = await find(store, params.rule)
    const outcome = await store.rules.remove(id, authorOf(caller))
    if (outcome === undefined || outcome === 'taken') throw missing('rule', params.rule)
    return { message: 'Rule removed', changed: outcome.changed }
  },
)

export const previewFindingRule = route(
  {
    endpoint: 'POST /finding-rules/preview',
    summary: 'Show what a rule would change, without saving it',
    description: `Reads the newest ${PREVIEW.read} findings that it matches, and lists the newest ${PREVIEW.list} that it would change.`,
    role: 'operator',
    query: closed({
      rule: Type.Optional(Type.String({ description: 'Id or name of the rule that it would replace' })),
    }),
    body: RuleContent,
    responses: { 200: wrapped(RulePreview) },
    errors: ['not_found'],
  },
  async ({ store }, { query, body }) => {
    const { rule, network } = checked(body)
    const replaced = query.rule === undefined ? undefined : await find(store, query.rule)
    const named = { name: replaced?.name ?? 'preview', ...rule }
    return { data: await store.rules.preview(named, network, replaced?.id) }
  },
)
