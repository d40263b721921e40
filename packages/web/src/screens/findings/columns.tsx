import type { Finding, FindingFilters } from '../../api/findings.ts'
import { hostOf, hostPath } from '../../api/assets.ts'
import { column, FindingStatus, hrefWith, Link, SEEN_COLUMNS, Severity, type Column } from '../../ui/index.ts'

const percentOf = (share: number): string => `${(100 * share).toFixed(1)} %`

/** Of every list of findings; links keep the filters. */
export const columnsOf = (filters: FindingFilters): readonly Column<Finding>[] => [
  column('severity', 'Severity', { width: '84px', sort: 'severity' }, ({ severity }) => (
    <Severity severity={severity} />
  )),
  column('priority', 'Priority', { width: '72px', sort: 'priority' }, ({ priority }) => (
    <span title={priority.why.map(({ points, text }) => `${points} ${text}`).join('\n')}>
      {priority.score}
    </span>
  )),
  column(
    'title',
    'Finding',
    { width: 'minmax(200px, 1fr)', sort: 'title' },
    ({ id, vuln_title, vuln_info }) => (
      <Link href={hrefWith(`/findings/${id}`, filters)} title={vuln_title}>
        {vuln_title || vuln_info || `finding ${id}`}
      </Link>
    ),
  ),
  column('asset', 'Asset', { width: 'minmax(200px, 1fr)', sort: 'asset' }, (finding) => {
    const host = hostOf(finding)
    const { asset_value: place } = finding
    if (host === '') return <span title={place}>{place}</span>
    return (
      <Link href={hostPath(host)} title={place}>
        {place}
      </Link>
    )
  }),
  column('workspace', 'Workspace', { width: '100px', sort: 'workspace', hidden: true }, 'workspace'),
  column('status', 'Status', '124px', (finding) => <FindingStatus finding={finding} />),
  ...SEEN_COLUMNS.filter(({ id }) => id !== 'state').map((each) => ({
    ...each,
    hidden: each.id === 'first',
  })),
  column('seen', 'Seen by', { width: '72px', hidden: true }, ({ times_seen, run_uuid, source }) =>
    run_uuid === '' ? (
      <span className="muted">{source}</span>
    ) : (
      <Link href={`/runs/${run_uuid}`}>{times_seen === 1 ? '1 scan' : `${times_seen} scans`}</Link>
    ),
  ),
  column('epss', 'EPSS', { width: '72px', sort: 'epss', hidden: true }, ({ epss }) =>
    epss === null ? '' : percentOf(epss),
  ),
  column('kev', 'Exploited', { width: '110px', hidden: true }, ({ kev, kev_due }) =>
    kev ? (kev_due ?? 'yes') : '',
  ),
  column('info', 'Identifier', { width: '150px', hidden: true }, 'vuln_info'),
  column('tags', 'Tags', { width: 'minmax(100px, 1fr)', hidden: true }, ({ tags }) => tags.join(', ')),
  column('confidence', 'Confidence', { width: '104px', hidden: true }, 'confidence'),
  column('type', 'Type', { width: '84px', hidden: true }, 'asset_type'),
]
