import { closed, Decision, DecisionOutcome, type FieldError } from '@scanfarm/contracts'
import { decodeCursor, encodeCursor, FACET_RECORDS, FINDING_FACETS } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { WordList, wordsOf } from '../query.ts'
import { orgQuery } from '../workspaces/orgs.ts'
import { authorOf, decisionOf, decisionProblems } from './decisions.ts'
import { facetsBody, facetsOf } from './facets.ts'
import { vulnerabilityFilter, vulnerabilityQuery } from './vulnerabilities.ts'

/** Most findings that one request changes. */
const MAX_CHANGED = 1_000

const Filter = closed({ ...vulnerabilityQuery, ...orgQuery })
const Change = closed(
  {
    delete: Type.Optional(Type.Literal(true, { description: 'Cannot be combined with other changes' })),
    ...Decision.properties,
  },
  { minProperties: 1 },
)

const Body = closed({
  ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      minItems: 1,
      maxItems: MAX_CHANGED,
    }),
  ),
  filter: Type.Optional(Filter),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: '`next_cursor` of the previous answer' }),
  ),
  change: Change,
})

/** Without ids a missing filter would name every record, so it must be given, even if it is empty. */
const combinationProblems = ({ ids, filter, cursor, change }: Static<typeof Body>): FieldError[] => [
  ...((ids === undefined) === (filter === undefined)
    ? [{ path: '/ids', message: 'send either ids or filter; an empty filter names all records' }]
    : []),
  ...(cursor !== undefined && filter === undefined
    ? [{ path: '/cursor', message: 'is only for a filter' }]
    : []),
  ...(change.delete === true && Object.keys(change).length > 1
    ? [{ path: '/change/delete', message: 'cannot be combined with other changes' }]
    : []),
  ...(change.delete === true ? [] : decisionProblems(change, '/change')),
]

export const changeVulnerabilities = route(
  {
    endpoint: 'POST /vulnerabilities/bulk',
    summary: 'Change or delete many vulnerabilities',
    description: `Send \`ids\` or \`filter\` (the parameters of GET /vulnerabilities), and the \`change\`. One request changes at most ${MAX_CHANGED} records in one transaction; with a filter these are the newest, and \`next_cursor\` continues with older ones. A record that is opened again by hand writes vuln.found, as a sighting does. Later scans, imports and rules do not change what is decided here.`,
    role: 'operator',
    body: Body,
    responses: {
      200: Type.Object({
        data: Type.Array(DecisionOutcome),
        changed: Type.Integer({ minimum: 0, description: 'How many were changed or deleted' }),
        next_cursor: Type.Optional(Type.String({ description: 'Only with a filter: there may be more' })),
      }),
    },
  },
  async ({ store }, { body, caller }) => {
    const { ids: given, filter = {}, cursor, change } = body
    refuse(combinationProblems(body))
    const made = change.delete === true ? { delete: true as const } : decisionOf(change, '/change')
    const below = cursor === undefined ? undefined : decodeCursor(cursor)
    const ids =
      given === undefined
        ? await store.triage.ids(await vulnerabilityFilter(store, filter), below, MAX_CHANGED)
        : [...new Set(given)]
    const data = ids.length === 0 ? [] : await store.triage.change(ids, made, authorOf(caller))
    const last = given === undefined && ids.length === MAX_CHANGED ? ids.at(-1) : undefined
    return {
      data,
      changed: data.filter(({ outcome }) => outcome === 'changed' || outcome === 'deleted').length,
      ...(last === undefined ? {} : { next_cursor: encodeCursor(last) }),
    }
  },
)

export const countVulnerabilityFacets = route(
  {
    endpoint: 'GET /vulnerabilities/facets',
    summary: 'Count the vulnerabilities of a filter by severity, state, workflow, asset and other fields',
    description: `Takes the filters of GET /vulnerabilities. Counts the newest ${FACET_RECORDS} records that match; \`complete\` is false if there are more. Large counts may be some seconds old.`,
    role: 'viewer',
    query: closed({
      ...Filter.properties,
      only: WordList(FINDING_FACETS, 'Facets to count, separated by commas; default all. Few are faster'),
    }),
    responses: { 200: facetsOf(FINDING_FACETS) },
  },
  async ({ store }, { query: { only, ...query } }) => {
    const filter = await vulnerabilityFilter(store, query)
    const names = wordsOf('only', only, FINDING_FACETS)
    return { data: facetsBody(await store.triage.facets(filter, names)) }
  },
)
