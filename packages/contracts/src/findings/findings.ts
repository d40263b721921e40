import { Type, type Static } from 'typebox'
import { NullableTimestamp, Timestamp } from '../resources.ts'
import { FINDING_LIMITS, MAX_TAG_LENGTH, MAX_TAGS } from './limits.ts'
import { CONFIDENCES, SEVERITIES } from './severities.ts'
import { closed, count, flag, named, nullable, text } from '../objects.ts'

export const Severity = Type.Enum([...SEVERITIES])
export type Severity = Static<typeof Severity>

export const Confidence = Type.Enum([...CONFIDENCES])
export type Confidence = Static<typeof Confidence>

/** Of a finding it follows from what scans see and what people decide; an asset is gone when a complete scan did not find it. */
export const FINDING_STATES = ['open', 'gone'] as const
export const FindingState = Type.Enum([...FINDING_STATES])
export type FindingState = Static<typeof FindingState>

/** What the last scan saw. `not_tested`: it could not check the place; `unreachable`: it did not reach the host. */
export const SEEN = ['open', 'gone', 'not_tested', 'unreachable'] as const
export const Seen = Type.Enum([...SEEN], { description: 'What scans see; people do not change it' })
export type Seen = Static<typeof Seen>

/** What people decide. An acceptance ends at its time; a claimed fix is open again when a scan sees the finding. */
export const VERDICTS = ['none', 'confirmed', 'false_positive', 'accepted', 'fixed_claimed'] as const
export const Verdict = Type.Enum([...VERDICTS], { description: 'What people decide; scans do not change it' })
export type Verdict = Static<typeof Verdict>

const limited = (field: keyof typeof FINDING_LIMITS, description: string) =>
  Type.String({ maxLength: FINDING_LIMITS[field], description })

const contentFields = {
  vuln_info: limited('vuln_info', 'CVE or other identifier'),
  vuln_title: limited('vuln_title', 'Title'),
  vuln_desc: limited('vuln_desc', 'Description'),
  vuln_poc: limited('vuln_poc', 'Proof of concept'),
  severity: Severity,
  confidence: Confidence,
  asset_type: limited('asset_type', 'For example web, api, network'),
  asset_value: limited('asset_value', 'URL or other identifier of what is affected'),
  tags: Type.Array(Type.String({ maxLength: MAX_TAG_LENGTH }), { maxItems: MAX_TAGS }),
  detail_http_request: limited('detail_http_request', 'Raw HTTP request'),
  detail_http_response: limited('detail_http_response', 'Raw HTTP response'),
  raw_vuln_json: limited('raw_vuln_json', 'Raw scanner output, as JSON text'),
}

const fingerprint = limited(
  'fingerprint',
  'What tells the results of one check at one place apart: a matcher, a commit, a column, the text of a line. Part of the identity; in a file it replaces the number of the line there',
)
const occurrences = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: 'Equal results of the last import',
})

/** The content of a finding, from any source. Without `fingerprint` nothing is known to tell it apart. */
export const FindingContent = Type.Object({
  ...contentFields,
  fingerprint: Type.Optional(fingerprint),
  occurrences: Type.Optional(occurrences),
})
export type FindingContent = Static<typeof FindingContent>

const seenFields = {
  state: FindingState,
  first_seen: Timestamp,
  last_seen: Timestamp,
  last_seen_at: Type.String({ format: 'date-time', description: 'Same as last_seen' }),
  times_seen: Type.Integer({ minimum: 1, description: 'Runs and imports that found it' }),
  gone_at: NullableTimestamp,
  first_run_uuid: text('Run that found it first, or ""'),
  run_uuid: text('Run that found it last, or ""'),
  source: text('Origin: api, workflow, or the format of the import'),
  created_at: Timestamp,
  updated_at: Type.String({
    format: 'date-time',
    description: 'Time of the last change of its content or state',
  }),
}

const decisionFields = {
  seen: Seen,
  seen_reason: text('Why the last scan did not see it, or ""'),
  verdict: Verdict,
  reason: text('Of the verdict, or ""'),
  until: NullableTimestamp,
  decided_by: text('user:name, token:name or rule:name, or ""'),
  decided_at: NullableTimestamp,
  back_at: NullableTimestamp,
  assignee: text('Or ""'),
  ticket: text('Link to a ticket, or ""'),
  scan_severity: Severity,
}

/** What a priority is made of, in the order in which it is shown. */
export const PRIORITY_FACTORS = ['severity', 'kev', 'epss', 'exposure'] as const

/** From files about CVEs: see enrichment. */
const enrichmentFields = {
  cves: Type.Array(Type.String(), { description: 'CVEs that its identifier and tags name' }),
  epss: nullable(
    Type.Number(),
    'The highest probability of its CVEs to be exploited within 30 days, from 0 to 1; null: not known',
  ),
  epss_percentile: nullable(Type.Number(), 'The share of all CVEs with at most this probability'),
  kev: flag('One of its CVEs is in the catalog of exploited vulnerabilities of CISA'),
  kev_due: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
    description: 'When CISA wants it fixed',
  }),
  priority: Type.Object(
    {
      score: Type.Integer({ minimum: 0, maximum: 100 }),
      why: Type.Array(
        Type.Object({
          factor: Type.Enum([...PRIORITY_FACTORS]),
          points: Type.Integer({ minimum: 0 }),
          text: Type.String(),
        }),
        { description: 'The points add up to the score' },
      ),
    },
    { description: 'What to look at first' },
  ),
}

/** A vector of CVSS with its base score. */
export const Cvss = Type.Object({
  version: Type.Enum(['2.0', '3.0', '3.1', '4.0']),
  vector: Type.String(),
  score: Type.Number(),
})
export type Cvss = Static<typeof Cvss>

/** A file about CVEs that is stored. */
export const Enrichment = named('Enrichment', {
  kind: Type.Enum(['epss', 'kev'], { description: 'epss: scores of FIRST; kev: the catalog of CISA' }),
  version: text('Of the model or the catalog, or ""'),
  published: text('As the file names it, or ""'),
  cves: Type.Integer({ minimum: 1 }),
  loaded_at: Timestamp,
  loaded_by: Type.String(),
})
export type Enrichment = Static<typeof Enrichment>

export const Vulnerability = named('Vulnerability', {
  id: Type.Integer(),
  workspace: Type.String(),
  org_uuid: Type.String({ format: 'uuid', description: 'Organisation that has the workspace' }),
  ...contentFields,
  ...decisionFields,
  ...enrichmentFields,
  fingerprint,
  occurrences,
  finding_hash: text('Identity in hex; "" when what or where is missing'),
  ...seenFields,
})
export type Vulnerability = Static<typeof Vulnerability>

export const NewVulnerability = closed({
  workspace: Type.String({ minLength: 1, maxLength: FINDING_LIMITS.workspace }),
  ...Type.Partial(FindingContent).properties,
})
export type NewVulnerability = Static<typeof NewVulnerability>

/** The content of an asset, from any source. */
export const AssetContent = Type.Object({
  asset_type: text('http, dns, url, subdomain, ip, port, technology, file…'),
  asset_value: text('Host, address, host:port, path…'),
  url: Type.String(),
  host_ip: Type.String(),
  scheme: Type.String(),
  status_code: Type.Integer({ description: '0: unknown' }),
  title: Type.String(),
  content_type: Type.String(),
  technologies: Type.Array(Type.String()),
  open_ports: Type.Array(Type.String()),
  dns_records: Type.Array(Type.String()),
  remarks: Type.Array(Type.String()),
  raw_json_data: text('Output of the tool as JSON text, or ""'),
})
export type AssetContent = Static<typeof AssetContent>

/** Derived from the URL and the output of the tool, for clients that show them as columns. */
const shownFields = {
  tech: Type.Array(Type.String(), { description: 'Same as technologies' }),
  content_length: Type.Integer({ description: '0: unknown' }),
  words: Type.Integer({ description: '0: unknown' }),
  lines: Type.Integer({ description: '0: unknown' }),
  tls: text('Version of TLS, or ""'),
  time: text('Time of the response, or ""'),
  method: Type.String(),
  input: Type.String(),
  path: text('Path of the URL, or ""'),
}

export const Asset = named('Asset', {
  id: Type.Integer(),
  workspace: Type.String(),
  org_uuid: Type.String({ format: 'uuid', description: 'Organisation that has the workspace' }),
  ...AssetContent.properties,
  ...shownFields,
  ...seenFields,
})
export type Asset = Static<typeof Asset>

/** Result of an import: `new`, `known`, `merged` and `errors` add up to the number of results in the report. */
export const ImportSummary = Type.Object({
  new: count('Results that became new records'),
  updated: count('Known ones whose content changed, or that came back'),
  unchanged: count('Known ones that are as they were'),
  known: count('updated and unchanged'),
  merged: count('Results that equal another one of the report, in whose record they are counted'),
  errors: count('Results that could not be used, and parts of the scan that failed'),
})
export type ImportSummary = Static<typeof ImportSummary>

/** Most problems that an import reports. */
export const MAX_IMPORT_PROBLEMS = 20

/** Why a result could not be used, or what the scan could not examine. */
export const ImportProblem = Type.Object({
  reason: Type.String(),
  line: Type.Optional(Type.Integer({ minimum: 1, description: 'Of the file' })),
})
export type ImportProblem = Static<typeof ImportProblem>
