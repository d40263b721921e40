import '../../styles/findings.css'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { assetQuery } from '../../api/assets.ts'
import { findingsQuery } from '../../api/findings.ts'
import {
  Commands,
  DataTable,
  EmptyState,
  ExternalLink,
  hrefWith,
  KeyValues,
  Link,
  Page,
  RawRecord,
  RecordPage,
  RecordState,
  SeenBy,
  Severity,
  Time,
  UrlTabs,
  useList,
} from '../../ui/index.ts'

type Asset = Awaited<ReturnType<NonNullable<ReturnType<typeof assetQuery>['queryFn']>>>

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
          cell: ({ state }) => <RecordState state={state} />,
        },
        { id: 'last', label: 'Last seen', width: '76px', cell: ({ last_seen }) => <Time at={last_seen} /> },
      ]}
    />
  )
}

const AssetPage = ({ asset }: { asset: Asset }) => {
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
          ['State', <RecordState key="state" state={asset.state} />],
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
      <UrlTabs
        label="Parts of the asset"
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
            content: (
              <RawRecord
                title="Output of the tool"
                text={asset.raw_json_data}
                none="The tool gave no JSON for this asset."
              />
            ),
          },
        ]}
      />
    </Page>
  )
}

export const Screen = () => {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return (
    <RecordPage name="Asset" query={useQuery(assetQuery(id))}>
      {(asset) => <AssetPage asset={asset} />}
    </RecordPage>
  )
}
