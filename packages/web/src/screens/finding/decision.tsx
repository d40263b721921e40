import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { ExternalLink, Link, Severity, Time } from '../../ui/index.ts'

type Finding = Schemas['Vulnerability'] & {
  readonly rules: readonly { readonly id: number; readonly name: string; readonly sets: readonly string[] }[]
}

const words = (text: string): string => text.replaceAll('_', ' ')

/** What scans saw, what people decided, and which rule did what. */
export const decisionFacts = (finding: Finding): readonly (readonly [string, ReactNode])[] => [
  ['Seen by the last scan', words(finding.seen)],
  ['Why', finding.seen_reason],
  [
    'Verdict',
    <span key="verdict">
      {words(finding.verdict)}
      {finding.decided_by === '' ? null : ` by ${finding.decided_by.replace(':', ' ')}`}
      {finding.decided_at === null ? null : (
        <>
          {' '}
          <Time at={finding.decided_at} />
        </>
      )}
    </span>,
  ],
  ['Reason', finding.reason],
  ['Accepted until', finding.until === null ? '' : <Time key="until" at={finding.until} />],
  ['Back since', finding.back_at === null ? '' : <Time key="back" at={finding.back_at} />],
  ['Assignee', finding.assignee],
  ['Ticket', finding.ticket === '' ? '' : <ExternalLink key="ticket" href={finding.ticket} />],
  [
    'Severity of the scanner',
    finding.scan_severity === finding.severity ? (
      ''
    ) : (
      <Severity key="scan" severity={finding.scan_severity} />
    ),
  ],
  [
    'Rules',
    finding.rules.length === 0 ? (
      ''
    ) : (
      <span key="rules">
        {finding.rules.map(({ id, name, sets }) => (
          <span key={id}>
            <Link href="/rules">{name}</Link> {sets.join(', ')}{' '}
          </span>
        ))}
      </span>
    ),
  ],
]
