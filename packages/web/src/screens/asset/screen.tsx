import '../../styles/findings.css'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { assetQuery } from '../../api/assets.ts'
import { findingsQuery } from '../../api/findings.ts'
import {
  Badge,
  Commands,
  DataTable,
  EmptyState,
  ErrorPanel,
  ExternalLink,
  hrefWith,
  KeyValues,
  Link,
  LongText,
  Page,
  prettyJson,
  SeenBy,
  Severity,
  Skeleton,
  Tabs,
  Time,
  useFilters,
  useList,
} from '../../ui/index.ts'

const Findings = ({ workspace, place }: { workspace: string; place: string }) => {
  const filters = { workspace, asset_value: place, state: 'open,gone' }
  const list = useList(findingsQuery(filters))
  return (
    <DataTable
      label="Findings of the asset"
      list={list}
      keyOf={({ id }) => String(id)}
      empty={
        <EmptyState title="No findings">No finding of this workspace has a place with “{place}”.</EmptyState>
      }
      columns={[
        {
          id: 'severity',
          label: 'Severity',
          width: '88px',
          cell: ({ severity }) => <Severity severity={severity} />,
        },
        {
          id: 'title',
          label: 'Finding',
          width: 'minmax(200px, 2fr)',
          cell: ({ id, vuln_title, vuln_info }) => (
            <Link href={hrefWith(`/findings/${id}`, filters)}>
              {vuln_title || vuln_info || `finding ${id}`}
            </Link>
          ),
        },
        {
          id: 'place',
          label: 'Place',
          width: 'minmax(160px, 2fr)',
          cell: ({ asset_value }) => <span title={asset_value}>{asset_value}</span>,
        },
        {
          id: 'state',
          label: 'State',
          width: '68px',
          cell: ({ state }) => <Badge tone={state === 'open' ? 'wait' : 'off'}>{state}</Badge>,
        },
        { id: 'last', label: 'Last seen', width: '76px', cell: ({ last_seen }) => <Time at={last_seen} /> },
      ]}
    />
  )
}

export const Screen = () => {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const [{ tab = 'findings' }, set] = useFilters(['tab'])
  const { data: asset, error, refetch } = useQuery(assetQuery(id))
  if (!asset)
    return (
      <Page title="Asset">
        {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />}
      </Page>
    )
  const { workspace } = asset
  return (
    <Page
      title={asset.url || asset.asset_value}
      actions={<Commands lines={[{ title: 'Read the asset', api: ['GET', `/assets/${asset.id}`] }]} />}
    >
      <p>
        <Link href={hrefWith('/assets', { workspace })}>← Assets of {workspace}</Link>
      </p>
      <KeyValues
        facts={[
          ['Type', asset.asset_type],
          [
            'State',
            <Badge key="state" tone={asset.state === 'open' ? 'wait' : 'off'}>
              {asset.state}
            </Badge>,
          ],
          ['Value', asset.asset_value],
          ['URL', asset.url === '' ? '' : <ExternalLink key="url" href={asset.url} />],
          ['Title', asset.title],
          ['Address', asset.host_ip],
          ['HTTP status', asset.status_code || ''],
          ['Content', asset.content_type],
          ['TLS', asset.tls],
          ['Open ports', asset.open_ports.join(', ')],
          ['Technologies', asset.technologies.join(', ')],
          ['DNS records', asset.dns_records.join(', ')],
          ['Remarks', asset.remarks.join(', ')],
          ['First seen', <Time key="first" at={asset.first_seen} />],
          ['Last seen', <Time key="last" at={asset.last_seen} />],
          ['Last changed', <Time key="changed" at={asset.updated_at} />],
          ['Gone', asset.gone_at ? <Time key="gone" at={asset.gone_at} /> : ''],
          ['Seen by', asset.times_seen === 1 ? '1 scan' : `${asset.times_seen} scans`],
          ['Source', asset.source],
        ]}
      />
      <Tabs
        label="Parts of the asset"
        value={tab}
        onChange={(next) => set({ tab: next })}
        tabs={[
          {
            id: 'findings',
            label: 'Findings',
            content: <Findings workspace={workspace} place={asset.asset_value} />,
          },
          {
            id: 'runs',
            label: `Runs (${asset.runs.length})`,
            content: <SeenBy runs={asset.runs} kind="assets" />,
          },
          {
            id: 'raw',
            label: 'Raw record',
            content:
              asset.raw_json_data === '' ? (
                <EmptyState title="No raw record">The tool gave no JSON for this asset.</EmptyState>
              ) : (
                <LongText title="Output of the tool" text={prettyJson(asset.raw_json_data)} />
              ),
          },
        ]}
      />
    </Page>
  )
}
