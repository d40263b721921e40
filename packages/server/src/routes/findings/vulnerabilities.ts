import {
  closed,
  CONFIDENCES,
  Cvss,
  DECISION_LIMITS,
  FINDING_LIMITS,
  FindingGroup,
  FindingHistoryEntry,
  FINDING_STATES,
  MAX_TAG_LENGTH,
  NewVulnerability,
  page,
  picked,
  RuleEffect,
  SEEN,
  SeenBy,
  SEVERITIES,
  VERDICTS,
  Vulnerability,
  wrapped,
  type FindingContent,
  valueOr,
} from '@scanfarm/contracts'
import { cvssOf, recordOf } from '@scanfarm/findings'
import {
  FACET_RECORDS,
  GROUP_BY,
  GROUP_SORTS,
  MAX_GROUPS,
  VULNERABILITY_SORTS,
  type Store,
  type VulnerabilityFilter,
} from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { found, missing, refuse, textProblems } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { pageQuery } from '../../http/paging.ts'
import {
  aliased,
  Host,
  List,
  longRowId,
  nameList,
  NewSince,
  Sort,
  stateOf,
  wordsOf,
  WordList,
} from '../query.ts'
import { lookUp, orgQuery } from '../workspaces/orgs.ts'
import { FACETS_COUNTED } from './facets.ts'

/** Filters of lists and exports. */
export const vulnerabilityQuery = {
  workspace: List('Exact names, separated by commas'),
  severity: WordList(SEVERITIES, 'One or more, separated by commas, ignoring case'),
  confidence: WordList(CONFIDENCES, 'One or more, separated by commas, ignoring case'),
  asset_type: List('Exact types, separated by commas'),
  asset_value: Type.Optional(
    Type.String({
      maxLength: FINDING_LIMITS.asset_value,
      description: 'Substring of the value, ignoring case',
    }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 1024, description: 'Substring of title, identifier or asset, ignoring case' }),
  ),
  tag: Type.Optional(Type.String({ maxLength: MAX_TAG_LENGTH, description: 'Has this tag' })),
  new_since: NewSince,
  state: WordList(FINDING_STATES, 'One or more, separated by commas'),
  seen: WordList(SEEN, 'What the last scan saw: one or more, separated by commas'),
  verdict: WordList(VERDICTS, 'What people decided: one or more, separated by commas'),
  back: Type.Optional(Type.Boolean({ description: 'A scan saw it again after a fix was claimed' })),
  assignee: Type.Optional(Type.String({ maxLength: DECISION_LIMITS.assignee, description: 'Exact name' })),
  kev: Type.Optional(
    Type.Boolean({ description: 'One of its CVEs is in the catalog of exploited vulnerabilities of CISA' }),
  ),
  min_epss: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'At least this probability of exploitation' }),
  ),
  source: Type.Optional(Type.String()),
  check: Type.Optional(
    Type.String({
      maxLength: FINDING_LIMITS.vuln_title,
      description: 'Exact identifier, or the title of findings without one',
    }),
  ),
  host: Host,
  run_id: Type.Optional(Type.String({ description: 'run_uuid of the run that last saw it' })),
  run_uuid: Type.Optional(Type.String({ description: 'Alias of run_id' })),
}
const VulnerabilityQuery = Type.Object(vulnerabilityQuery)

export const vulnerabilityFilter = async (
  store: Pick<Store, 'jobs' | 'orgs'>,
  query: Static<typeof VulnerabilityQuery> & { readonly org?: string },
): Promise<VulnerabilityFilter> => {
  return {
    ...picked(query, ['asset_value', 'search', 'back', 'kev', 'min_epss', 'source', 'check', 'host']),
    workspace: nameList(query.workspace),
    severity: wordsOf('severity', query.severity, SEVERITIES),
    confidence: wordsOf('confidence', query.confidence, CONFIDENCES),
    asset_type: nameList(query.asset_type),
    state: stateOf(query.state),
    seen: wordsOf('seen', query.seen, SEEN),
    verdict: wordsOf('verdict', query.verdict, VERDICTS),
    tag: query.tag || undefined,
    assignee: query.assignee || undefined,
    run_id: aliased(query, 'run_id', 'run_uuid'),
    ...(await lookUp(store, query)),
  }
}

export const listVulnerabilities = route(
  {
    endpoint: 'GET /vulnerabilities',
    summary: 'List vulnerabilities, newest first or sorted',
    role: 'viewer',
    query: closed({ ...vulnerabilityQuery, ...orgQuery, ...pageQuery, sort: Sort(VULNERABILITY_SORTS) }),
    responses: { 200: page(Vulnerability) },
  },
  async ({ store }, { query, page: request }) =>
    store.vulnerabilities.list(await vulnerabilityFilter(store, query), { ...request, sort: query.sort }),
)

const GroupSort = Type.Optional(
  Type.Enum([...GROUP_SORTS, ...GROUP_SORTS.map((name): `-${typeof name}` => `-${name}`)], {
    description: 'Default: severity, the worst first. With a minus in reverse',
  }),
)

export const groupVulnerabilities = route(
  {
    endpoint: 'GET /vulnerabilities/groups',
    summary: 'Group vulnerabilities by check or by host, the worst first',
    description: `Takes the filters of GET /vulnerabilities. Groups the newest ${FACET_RECORDS} records that match, and answers with at most ${MAX_GROUPS} groups; \`complete\` is false if there are more. Large counts may be some seconds old.`,
    role: 'viewer',
    query: closed({ ...vulnerabilityQuery, ...orgQuery, by: Type.Enum([...GROUP_BY]), sort: GroupSort }),
    responses: {
      200: wrapped(
        Type.Object({
          ...FACETS_COUNTED,
          total: Type.Integer({ minimum: 0, description: 'Groups' }),
          groups: Type.Array(FindingGroup),
        }),
      ),
    },
  },
  async ({ store }, { query }) => {
    const filter = await vulnerabilityFilter(store, query)
    const { counted, total, groups } = await store.vulnerabilities.groups(filter, query.by, query.sort)
    const complete = counted < FACET_RECORDS && total <= MAX_GROUPS
    return { data: { counted, complete, total, groups } }
  },
)

const Count = Type.Integer({ minimum: 0 })

export const summariseVulnerabilities = route(
  {
    endpoint: 'GET /vulnerabilities/summary',
    summary:
      'Count open vulnerabilities by severity; state=gone counts those that are gone, state=open,gone both',
    role: 'viewer',
    query: closed({ workspace: vulnerabilityQuery.workspace, state: vulnerabilityQuery.state }),
    responses: {
      200: wrapped(
        Type.Object({
          by_severity: Type.Object({ critical: Count, high: Count, medium: Count, low: Count, info: Count }),
          total: Count,
          workspace: Type.String({ description: 'As requested, or ""' }),
        }),
      ),
    },
  },
  async ({ store }, { query }) => {
    const state = stateOf(query.state || 'open')
    const by_severity = await store.vulnerabilities.summary({ workspace: nameList(query.workspace), state })
    const total = Object.values(by_severity).reduce((sum, count) => sum + count, 0)
    return { data: { by_severity, total, workspace: query.workspace ?? '' } }
  },
)

/** Of a finding or an asset. */
export const SeenRuns = Type.Array(SeenBy, { description: 'Runs that saw it, newest first, at most 100' })

export const VulnerabilityDetail = Type.Object({
  ...Vulnerability.properties,
  cvss: Type.Union([Cvss, Type.Null()], { description: 'The newest vector in the record of the scanner' }),
  runs: SeenRuns,
  rules: Type.Array(RuleEffect, { description: 'Rules that match it, in the order in which they apply' }),
  history: Type.Array(FindingHistoryEntry, {
    description: 'Newest first, at most 100 changes by scans and 1,000 by hand',
  }),
  history_complete: Type.Boolean({ description: 'False: older changes may have been dropped' }),
})

export const vulnerabilityDetail = async (
  { vulnerabilities, triage }: Pick<Store, 'vulnerabilities' | 'triage'>,
  ref: string,
): Promise<Static<typeof VulnerabilityDetail>> => {
  const id = longRowId(ref)
  const data = found('vulnerability', ref, await vulnerabilities.find(id))
  const [runs, rules, history] = await Promise.all([
    triage.seenBy('vulnerability', id),
    triage.rulesOf(id),
    triage.history(id),
  ])
  const byScans = history.filter(({ changed_by }) => changed_by === '').length
  return {
    ...data,
    cvss: cvssOf(recordOf(data.raw_vuln_json)) ?? null,
    runs,
    rules,
    history,
    history_complete: byScans < 100 && history.length - byScans < 1000,
  }
}

export const getVulnerability = route(
  {
    endpoint: 'GET /vulnerabilities/{id}',
    summary: 'Read one vulnerability',
    role: 'viewer',
    description:
      'With the runs that saw it, as far as sightings are kept, and its newest changes by scans and people.',
    responses: { 200: wrapped(VulnerabilityDetail) },
  },
  async ({ store }, { params }) => ({ data: await vulnerabilityDetail(store, params.id) }),
)

const DEFAULTS: FindingContent = {
  vuln_info: '',
  vuln_title: '',
  vuln_desc: '',
  vuln_poc: '',
  severity: 'info',
  confidence: 'Certain',
  asset_type: '',
  asset_value: '',
  tags: [],
  detail_http_request: '',
  detail_http_response: '',
  raw_vuln_json: '',
}

const isJson = (text: string): boolean => valueOr<unknown>(() => JSON.parse(text), undefined) !== undefined

export const createVulnerability = route(
  {
    endpoint: 'POST /vulnerabilities',
    summary: 'Add a vulnerability',
    description: 'Always creates a new record; use the import to update known ones.',
    role: 'operator',
    body: NewVulnerability,
    anyText: true,
    responses: { 201: Type.Object({ data: Vulnerability, message: Type.String() }) },
  },
  async ({ store }, { body: { workspace, ...content } }) => {
    const raw = content.raw_vuln_json ?? ''
    if (raw !== '' && !isJson(raw)) refuse([{ path: '/raw_vuln_json', message: 'must be valid JSON text' }])
    refuse(textProblems({ workspace }))
    if (workspace.trim() === '') refuse([{ path: '/workspace', message: 'must not be blank' }])
    const data = await store.vulnerabilities.create(workspace, { ...DEFAULTS, ...content })
    return { data, message: 'Vulnerability created successfully' }
  },
)

export const removeVulnerability = route(
  {
    endpoint: 'DELETE /vulnerabilities/{id}',
    summary: 'Delete one vulnerability',
    role: 'operator',
    responses: { 200: Type.Object({ message: Type.String(), id: Type.Integer() }) },
  },
  async ({ store }, { params }) => {
    const id = longRowId(params.id)
    if (!(await store.vulnerabilities.remove(id))) throw missing('vulnerability', params.id)
    return { message: 'Vulnerability deleted successfully', id }
  },
)
