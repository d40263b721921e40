import type { Asset } from '../../api/assets.ts'
import { hostOf, hostPath } from '../../api/assets.ts'
import { column, Link, SEEN_COLUMNS, type Column } from '../../ui/index.ts'

/** Of every list of assets. */
export const COLUMNS: readonly Column<Asset>[] = [
  column('asset', 'Asset', { width: 'minmax(240px, 3fr)', sort: 'asset' }, ({ id, url, asset_value }) => (
    <Link href={`/assets/${id}`} title={url || asset_value}>
      {url || asset_value}
    </Link>
  )),
  column('type', 'Type', { width: '66px', sort: 'type' }, 'asset_type'),
  column('title', 'Title', { width: 'minmax(80px, 2fr)', sort: 'title' }, 'title'),
  column('status', 'HTTP', { width: '54px', sort: 'status' }, ({ status_code }) =>
    status_code === 0 ? '' : <span className="number">{status_code}</span>,
  ),
  column('ports', 'Open ports', 'minmax(80px, 1fr)', ({ open_ports }) => (
    <span className="number" title={open_ports.join(', ')}>
      {open_ports.join(', ')}
    </span>
  )),
  column('tech', 'Technologies', 'minmax(90px, 2fr)', ({ technologies }) => technologies.join(', ')),
  column('workspace', 'Workspace', { width: '100px', sort: 'workspace' }, 'workspace'),
  ...SEEN_COLUMNS,
  column('host', 'Host', { width: 'minmax(90px, 1fr)', hidden: true }, (asset) => {
    const host = hostOf(asset)
    return host === '' ? '' : <Link href={hostPath(host)}>{host}</Link>
  }),
  column('ip', 'Address', { width: '120px', hidden: true }, 'host_ip'),
  column('source', 'Source', { width: '90px', hidden: true }, 'source'),
  column('remarks', 'Remarks', { width: 'minmax(100px, 1fr)', hidden: true }, ({ remarks }) =>
    remarks.join(', '),
  ),
]
