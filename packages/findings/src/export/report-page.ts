import { createHash } from 'node:crypto'
import {
  SEVERITIES,
  type ChangedFinding,
  type Issue,
  type ReportFacts,
  type SeverityCounts,
  plural,
} from '@scanfarm/contracts'
import { factsOf } from './facts.ts'
import { Html, markup, NO_HTML } from './html.ts'

export interface Report {
  readonly title: string
  readonly facts: ReportFacts
  readonly madeAt: string
}

const STYLE = `
:root{color-scheme:light}
body{font:14px/1.5 system-ui,sans-serif;color:#16201f;max-width:960px;margin:32px auto;padding:0 20px;overflow-wrap:anywhere}
th,.severity,.target{overflow-wrap:normal}.place{min-width:15em}
h1{font-size:24px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 8px;border-bottom:2px solid #16201f}
h3{font-size:14px;margin:14px 0 2px}p,ul{margin:4px 0}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:4px 10px 4px 0;border-bottom:1px solid #d5d9d3}
.muted{color:#56625f}.critical,.high,.bad{color:#b3261e}.medium,.warn{color:#855300}.low{color:#0f5fa8}.info{color:#5b5f6b}.good{color:#1a6b34}
.severity{font-weight:650}.outcome{font-weight:650}.text{white-space:pre-wrap}
@media(max-width:600px){body{margin:12px auto;padding:0 12px}th,td{padding-right:5px}.ages{font-size:12px}
.list thead,.ages :is(th,td):last-child{display:none}.list :is(tr,td){display:block;border:0;padding:0}
.list tr{padding:6px 0;border-bottom:1px solid #d5d9d3}}
section{break-inside:auto}tr,.issue{break-inside:avoid}@page{margin:16mm}@media print{body{margin:0;max-width:none}}
`

/** Nothing is loaded, and no script runs, when the page is opened from a server or from a file. */
export const reportPolicy = (): string =>
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`

const MAX_TEXT = 2_000

const day = (time: string | null): string =>
  time === null ? '' : new Date(time).toISOString().slice(0, 16).replace('T', ' ') + ' UTC'

const total = (counts: SeverityCounts): number =>
  SEVERITIES.reduce((sum, severity) => sum + (counts[severity] ?? 0), 0)

const severityOf = (severity: string): Html => markup`<span class="severity ${severity}">${severity}</span>`

const OUTCOMES: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  clean: ['good', 'clean: nothing was left out'],
  partial: ['warn', 'partial: not all of the work was done'],
  nothing_done: ['bad', 'nothing was done'],
}

const listOf = (names: readonly string[], count: number): string =>
  names.join(', ') + (count > names.length ? ` and ${count - names.length} more` : '')

const scope = ({ facts }: Report): Html =>
  markup`<section>
    <h2>Scope</h2>
    <table>
      <tr>
        <th scope="row">Workflow</th>
        <td>${facts.workflow_name}</td>
      </tr>
      <tr>
        <th scope="row">Targets</th>
        <td>${listOf(facts.targets, facts.run_count)}</td>
      </tr>
      <tr>
        <th scope="row">Workspaces</th>
        <td>${listOf(facts.workspaces, facts.workspace_count)}</td>
      </tr>
      <tr>
        <th scope="row">Time</th>
        <td>${day(facts.created_at)} to ${day(facts.ended_at) || 'now: it has not ended'}</td>
      </tr>
      <tr>
        <th scope="row">Job</th>
        <td>${facts.job_id}</td>
      </tr>
    </table>
  </section>`

const findingRows = (findings: readonly ChangedFinding[], withReason: boolean): Html[] =>
  findings.map(
    ({ severity, vuln_title, vuln_info, asset_value, seen_reason }) =>
      markup`<tr>
        <td>${severityOf(severity)}</td>
        <td>${vuln_title || vuln_info}</td>
        <td class="place">${asset_value}</td>
        ${withReason ? markup`<td>${seen_reason}</td>` : NO_HTML}
      </tr>`,
  )

/** A list of findings with its number; nothing if there are none. */
const findings = (
  title: string,
  list: readonly ChangedFinding[],
  counts: SeverityCounts,
  withReason = false,
): Html => {
  const all = total(counts)
  if (all === 0)
    return markup`<h3>${title}</h3>
      <p class="muted">None.</p>`
  const more =
    all > list.length ? markup`<p class="muted">${all - list.length} more are not listed.</p>` : NO_HTML
  return markup`<h3>${title} (${all})</h3>
    <table class="list">
      <thead>
        <tr>
          <th>Severity</th>
          <th>What</th>
          <th>Where</th>
          ${withReason ? markup`<th>Why</th>` : NO_HTML}
        </tr>
      </thead>
      <tbody>
        ${findingRows(list, withReason)}
      </tbody>
    </table>
    ${more}`
}

const coverage = ({ facts }: Report): Html => {
  const { changes } = facts
  const untested = total(changes.counts.not_tested)
  const [tone, text] =
    facts.outcome === 'clean' && untested > 0
      ? ['warn', `But ${plural(untested, 'open finding')} could not be tested again.`]
      : (OUTCOMES[facts.outcome ?? ''] ?? ['muted', ''])
  const unclean = facts.run_count - facts.clean_count - facts.open_count
  const rows = facts.unclean.map(
    ({ target, status, outcome, reason }) =>
      markup`<tr>
        <td class="target">${target}</td>
        <td>${outcome === 'partial' ? 'partly' : 'no'}</td>
        <td>${reason || status}</td>
      </tr>`,
  )
  const table =
    unclean === 0
      ? NO_HTML
      : markup`<h3>Not scanned completely (${unclean})</h3>
          <table class="list">
            <thead>
              <tr>
                <th>Target</th>
                <th>Scanned</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>
          ${unclean > rows.length ? markup`<p class="muted">${unclean - rows.length} more are not listed.</p>` : NO_HTML}`
  return markup`<section>
    <h2>Coverage</h2>
    <p>
      All steps were done for ${facts.clean_count} of ${plural(facts.run_count, 'target')}.
      <span class="outcome ${tone}">${text}</span>
    </p>
    ${facts.open_count === 0 ? NO_HTML : markup`<p class="warn">${plural(facts.open_count, 'run')} of the job had not ended when this page was written: what they find later, and what is gone, is not on it.</p>`}
    ${table}
    ${untested === 0 ? NO_HTML : findings('Open findings that were not tested again', changes.findings.not_tested, changes.counts.not_tested, true)}
  </section>`
}

const counts = ({ facts: { changes, ...facts } }: Report): Html => {
  const ages = new Map(facts.ages.map((age) => [age.severity, age]))
  const rows = SEVERITIES.map((severity) => {
    const { week = 0, month = 0, quarter = 0, older = 0, oldest = null } = ages.get(severity) ?? {}
    return markup`<tr>
      <th scope="row">${severityOf(severity)}</th>
      <td>${week + month + quarter + older}</td>
      <td>${changes.counts.new[severity] ?? 0}</td>
      <td>${changes.counts.back[severity] ?? 0}</td>
      <td>${changes.counts.gone[severity] ?? 0}</td>
      <td>${week}</td>
      <td>${month}</td>
      <td>${quarter}</td>
      <td>${older}</td>
      <td>${day(oldest).slice(0, 10)}</td>
    </tr>`
  })
  return markup`<section>
    <h2>Findings</h2>
    <table class="ages">
      <thead>
        <tr>
          <th>Severity</th>
          <th>Open</th>
          <th>New</th>
          <th>Back</th>
          <th>Gone</th>
          <th>&lt; 7 days</th>
          <th>7 to 30</th>
          <th>30 to 90</th>
          <th>Older</th>
          <th>Oldest</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    <p class="muted">
      Left out: ${plural(facts.false_positive, 'false positive')} and
      ${plural(facts.accepted, 'accepted finding')}. Days: how long the open ones have been known.
    </p>
  </section>`
}

const text = (value: string): Html =>
  markup`<p class="text">${value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value}</p>`

const issueOf = (issue: Issue): Html => {
  const { vuln_desc: description, raw_vuln_json } = issue
  const { remediation, references } = factsOf({ raw_vuln_json, vuln_info: '', tags: [] })
  return markup`<div class="issue">
    <h3>${severityOf(issue.severity)} ${issue.title}</h3>
    <p class="muted">
      ${plural(issue.place_count, 'place')}, known since ${day(issue.first_seen).slice(0, 10)}:
      ${listOf(issue.places, issue.place_count)}
    </p>
    ${description === '' ? NO_HTML : text(description)}${
      remediation === ''
        ? NO_HTML
        : markup`<p><strong>What to do:</strong></p>
            ${text(remediation)}`
    }${references.length === 0 ? NO_HTML : markup`<p class="muted">${references.slice(0, 3).join(' ')}</p>`}
  </div>`
}

const issues = ({ facts }: Report): Html => {
  const left = facts.issue_count - facts.issues.length
  return markup`<section>
    <h2>Top issues</h2>
    ${facts.issues.length === 0 ? markup`<p class="muted">Nothing is open.</p>` : NO_HTML}${facts.issues.map(issueOf)}${left > 0 ? markup`<p class="muted">${left} more are not listed.</p>` : NO_HTML}
  </section>`
}

/** One page for a person, to be read or printed. */
export const reportPage = (report: Report): string => {
  const { changes } = report.facts
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta http-equiv="Content-Security-Policy" content="${reportPolicy()}" />
        <title>${report.title}</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
        <main>
          <h1>${report.title}</h1>
          <p class="muted">Scanfarm, ${day(report.madeAt)}</p>
          ${scope(report)}${coverage(report)}${counts(report)}
          <section>
            <h2>Changes</h2>
            ${findings('New', changes.findings.new, changes.counts.new)}${findings('Back', changes.findings.back, changes.counts.back)}${findings('Gone', changes.findings.gone, changes.counts.gone, true)}
          </section>
          ${issues(report)}
        </main>
      </body>
    </html> `.text
}
