import { useRefresh } from '../../api/act.ts'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { DataOf } from '../../api/list.ts'
import { FINDING_FILTERS, findingQuery, type FindingFilters } from '../../api/findings.ts'
import { hostOf, hostPath } from '../../api/assets.ts'
import { useRefusal } from '../../api/role.ts'
import {
  timeIf,
  Button,
  Commands,
  Confirm,
  EmptyState,
  ExternalLink,
  FindingStatus,
  hrefWith,
  KeyValues,
  Link,
  LongText,
  Page,
  RawRecord,
  recordScreen,
  SeenBy,
  Severity,
  Time,
  tab,
  UrlTabs,
  useFilters,
  useShortcut,
} from '../../ui/index.ts'
import { Triage } from '../findings/triage.tsx'
import { decisionFacts } from './decision.tsx'
import { History } from './history.tsx'
import { Neighbours } from './neighbours.tsx'
import { Priority } from './priority.tsx'
import { referencesOf } from './references.ts'
import { Tags, useChange } from './tags.tsx'

type Finding = DataOf<typeof findingQuery>

const EVIDENCE = [
  ['Description', 'vuln_desc'],
  ['Proof of concept', 'vuln_poc'],
  ['Request', 'detail_http_request'],
  ['Response', 'detail_http_response'],
] as const

const Evidence = ({ finding }: { finding: Finding }) => {
  const references = referencesOf(finding.raw_vuln_json)
  const given = EVIDENCE.filter(([, name]) => finding[name] !== '')
  return (
    <div className="stack gap-16">
      {given.length === 0 && references.length === 0 ? (
        <EmptyState title="No evidence">The scanner gave no description, request or response.</EmptyState>
      ) : null}
      {given.map(([title, name]) => (
        <LongText key={name} title={title} text={finding[name]} />
      ))}
      {references.length === 0 ? null : (
        <section className="stack gap-6">
          <h2>References</h2>
          <ul className="bullets">
            {references.map((href) => (
              <li key={href}>
                <ExternalLink href={href} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const Actions = ({ finding, filters }: { finding: Finding; filters: FindingFilters }) => {
  const navigate = useNavigate()
  const refusal = useRefusal('operator')
  const change = useChange(finding.id)
  const [open, setOpen] = useState(false)
  const refresh = useRefresh()
  useShortcut('t', 'Triage the finding', () => refusal === undefined && setOpen(true))
  return (
    <>
      <Commands lines={[{ title: 'Read the finding', api: ['GET', `/vulnerabilities/${finding.id}`] }]} />
      <Button kind="primary" refusal={refusal} onClick={() => setOpen(true)}>
        Triage <kbd>t</kbd>
      </Button>
      {open ? (
        <Triage
          scope={{ ids: [finding.id] }}
          onClose={() => setOpen(false)}
          onDone={() => void refresh('finding')}
        />
      ) : null}
      <Confirm
        trigger="Delete"
        title="Delete this finding?"
        action="Delete the finding"
        danger
        refusal={refusal}
        onConfirm={async () => {
          await change.mutateAsync({ delete: true })
          await navigate({ href: hrefWith('/findings', filters) })
          return 'Deleted.'
        }}
        text="Its history is deleted, too. A later scan that sees it adds it as new."
      />
    </>
  )
}

const FindingPage = ({ finding }: { finding: Finding }) => {
  const [filters] = useFilters(FINDING_FILTERS)
  const host = hostOf(finding)
  const title = finding.vuln_title || finding.vuln_info || `Finding ${finding.id}`
  return (
    <Page title={title} actions={<Actions finding={finding} filters={filters} />}>
      <Neighbours id={finding.id} filters={filters} />
      <KeyValues
        facts={{
          Severity: <Severity severity={finding.severity} />,
          Priority: <Priority priority={finding.priority} />,
          CVSS: finding.cvss === null ? '' : `${finding.cvss.score} (${finding.cvss.vector})`,
          Status: <FindingStatus finding={finding} />,
          ...decisionFacts(finding),
          Identifier: finding.vuln_info,
          Confidence: finding.confidence,
          Asset: finding.asset_value === '' ? '' : <ExternalLink href={finding.asset_value} />,
          Host: host === '' ? '' : <Link href={hostPath(host)}>{host}</Link>,
          'Asset type': finding.asset_type,
          Workspace: (
            <Link href={`/findings?workspace=${encodeURIComponent(finding.workspace)}`}>
              {finding.workspace}
            </Link>
          ),
          'First seen': <Time at={finding.first_seen} />,
          'Last seen': <Time at={finding.last_seen} />,
          Closed: timeIf(finding.gone_at),
          'Seen by': finding.times_seen === 1 ? '1 scan' : `${finding.times_seen} scans`,
          Source: finding.source,
        }}
      />
      <Tags id={finding.id} tags={finding.tags} />
      <UrlTabs
        label="Parts of the finding"
        tabs={[
          tab('evidence', 'Evidence', <Evidence finding={finding} />),
          tab('runs', `Runs (${finding.runs.length})`, <SeenBy runs={finding.runs} kind="vulnerabilities" />),
          tab(
            'history',
            `History (${finding.history.length})`,
            <History changes={finding.history} complete={finding.history_complete} />,
          ),
          tab(
            'raw',
            'Raw record',
            <RawRecord
              title="Record of the scanner"
              text={finding.raw_vuln_json}
              none="The finding was not reported by a scanner."
            />,
          ),
        ]}
      />
    </Page>
  )
}

export const Screen = recordScreen('Finding', findingQuery, (finding) => <FindingPage finding={finding} />)
