import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { ExternalLink, Link, Severity, timeIf } from '../../ui/index.ts'

type Finding = Schemas['Vulnerability'] & {
  readonly rules: readonly { readonly id: number; readonly name: string; readonly sets: readonly string[] }[]
}

const words = (text: string): string => text.replaceAll('_', ' ')

/** What scans saw, what people decided, and which rule did what. */
export const decisionFacts = (finding: Finding): Readonly<Record<string, ReactNode>> => ({
  'Seen by the last scan': words(finding.seen),
  Why: finding.seen_reason,
  Verdict: (
    <span>
      {words(finding.verdict)}
      {finding.decided_by === '' ? null : ` by ${finding.decided_by.replace(':', ' ')}`}{' '}
      {timeIf(finding.decided_at)}
    </span>
  ),
  Reason: finding.reason,
  'Accepted until': timeIf(finding.until),
  'Back since': timeIf(finding.back_at),
  Assignee: finding.assignee,
  Ticket: finding.ticket === '' ? '' : <ExternalLink href={finding.ticket} />,
  'Severity of the scanner':
    finding.scan_severity === finding.severity ? '' : <Severity severity={finding.scan_severity} />,
  Rules:
    finding.rules.length === 0 ? (
      ''
    ) : (
      <span>
        {finding.rules.map(({ id, name, sets }) => (
          <span key={id}>
            <Link href="/rules">{name}</Link> {sets.join(', ')}{' '}
          </span>
        ))}
      </span>
    ),
})
