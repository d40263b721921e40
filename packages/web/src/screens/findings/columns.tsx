import type { Finding, FindingFilters } from '../../api/findings.ts'
import { hostOf, hostPath } from '../../api/assets.ts'
import { FindingStatus, hrefWith, Link, SEEN_COLUMNS, Severity, type Column } from '../../ui/index.ts'

const percentOf = (share: number): string => `${(100 * share).toFixed(1)} %`

/** Of every list of findings; links keep the filters. */
export const columnsOf = (filters: FindingFilters): readonly Column<Finding>[] => [
  {
    id: 'severity',
    label: 'Severity',
    width: '84px',
    sort: 'severity',
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    id: 'priority',
    label: 'Priority',
    width: '72px',
    sort: 'priority',
    cell: ({ priority }) => (
      <span title={priority.why.map(({ points, text }) => `${points} ${text}`).join('\n')}>
        {priority.score}
      </span>
    ),
  },
  {
    id: 'title',
    label: 'Finding',
    width: 'minmax(240px, 3fr)',
    sort: 'title',
    cell: ({ id, vuln_title, vuln_info }) => (
      <Link href={hrefWith(`/findings/${id}`, filters)} title={vuln_title}>
        {vuln_title || vuln_info || `finding ${id}`}
      </Link>
    ),
  },
  {
    id: 'asset',
    label: 'Asset',
    width: 'minmax(170px, 2fr)',
    sort: 'asset',
    cell: (finding) => {
      const host = hostOf(finding)
      const { asset_value: place } = finding
      if (host === '') return <span title={place}>{place}</span>
      return (
        <Link href={hostPath(host)} title={place}>
          {place}
        </Link>
      )
    },
  },
  {
    id: 'workspace',
    label: 'Workspace',
    width: '100px',
    sort: 'workspace',
    hidden: true,
    cell: ({ workspace }) => workspace,
  },
  { id: 'status', label: 'Status', width: '124px', cell: (finding) => <FindingStatus finding={finding} /> },
  ...SEEN_COLUMNS.filter(({ id }) => id !== 'state'),
  {
    id: 'seen',
    label: 'Seen by',
    width: '72px',
    cell: ({ times_seen, run_uuid, source }) =>
      run_uuid === '' ? (
        <span className="muted">{source}</span>
      ) : (
        <Link href={`/runs/${run_uuid}`}>{times_seen === 1 ? '1 scan' : `${times_seen} scans`}</Link>
      ),
  },
  {
    id: 'epss',
    label: 'EPSS',
    width: '72px',
    sort: 'epss',
    hidden: true,
    cell: ({ epss }) => (epss === null ? '' : percentOf(epss)),
  },
  {
    id: 'kev',
    label: 'Exploited',
    width: '110px',
    hidden: true,
    cell: ({ kev, kev_due }) => (kev ? (kev_due ?? 'yes') : ''),
  },
  { id: 'info', label: 'Identifier', width: '150px', hidden: true, cell: ({ vuln_info }) => vuln_info },
  {
    id: 'tags',
    label: 'Tags',
    width: 'minmax(100px, 1fr)',
    hidden: true,
    cell: ({ tags }) => tags.join(', '),
  },
  {
    id: 'confidence',
    label: 'Confidence',
    width: '104px',
    hidden: true,
    cell: ({ confidence }) => confidence,
  },
  { id: 'type', label: 'Type', width: '84px', hidden: true, cell: ({ asset_type }) => asset_type },
]
