import type { Asset } from '../../api/assets.ts'
import { hostOf, hostPath } from '../../api/assets.ts'
import { Link, SEEN_COLUMNS, type Column } from '../../ui/index.ts'

/** Of every list of assets. */
export const COLUMNS: readonly Column<Asset>[] = [
  {
    id: 'asset',
    label: 'Asset',
    width: 'minmax(160px, 3fr)',
    sort: 'asset',
    cell: ({ id, url, asset_value }) => (
      <Link href={`/assets/${id}`} title={url || asset_value}>
        {url || asset_value}
      </Link>
    ),
  },
  { id: 'type', label: 'Type', width: '66px', sort: 'type', cell: ({ asset_type }) => asset_type },
  {
    id: 'title',
    label: 'Title',
    width: 'minmax(80px, 2fr)',
    sort: 'title',
    cell: ({ title }) => <span title={title}>{title}</span>,
  },
  {
    id: 'status',
    label: 'HTTP',
    width: '54px',
    sort: 'status',
    cell: ({ status_code }) => (status_code === 0 ? '' : <span className="number">{status_code}</span>),
  },
  {
    id: 'ports',
    label: 'Open ports',
    width: 'minmax(80px, 1fr)',
    cell: ({ open_ports }) => (
      <span className="number" title={open_ports.join(', ')}>
        {open_ports.join(', ')}
      </span>
    ),
  },
  {
    id: 'tech',
    label: 'Technologies',
    width: 'minmax(90px, 2fr)',
    cell: ({ technologies }) => <span title={technologies.join(', ')}>{technologies.join(', ')}</span>,
  },
  {
    id: 'workspace',
    label: 'Workspace',
    width: '100px',
    sort: 'workspace',
    cell: ({ workspace }) => workspace,
  },
  ...SEEN_COLUMNS,
  {
    id: 'host',
    label: 'Host',
    width: 'minmax(90px, 1fr)',
    hidden: true,
    cell: (asset) => {
      const host = hostOf(asset)
      return host === '' ? '' : <Link href={hostPath(host)}>{host}</Link>
    },
  },
  { id: 'ip', label: 'Address', width: '120px', hidden: true, cell: ({ host_ip }) => host_ip },
  { id: 'source', label: 'Source', width: '90px', hidden: true, cell: ({ source }) => source },
  {
    id: 'remarks',
    label: 'Remarks',
    width: 'minmax(100px, 1fr)',
    hidden: true,
    cell: ({ remarks }) => remarks.join(', '),
  },
]
