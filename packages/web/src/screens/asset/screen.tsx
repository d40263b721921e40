import type { DataOf } from '../../api/list.ts'
import { assetQuery, hostOf, hostPath } from '../../api/assets.ts'
import {
  timeIf,
  ExternalLink,
  hrefWith,
  KeyValues,
  Link,
  Page,
  RawRecord,
  recordScreen,
  RecordState,
  SeenBy,
  Time,
  tab,
  UrlTabs,
} from '../../ui/index.ts'
import { FindingList } from '../findings/list.tsx'

type Asset = DataOf<typeof assetQuery>

const AssetPage = ({ asset }: { asset: Asset }) => {
  const { workspace, asset_value: place } = asset
  const host = hostOf({ ...asset, asset_value: asset.url || place })
  return (
    <Page
      title={asset.url || place}
      commands={[{ title: 'Read the asset', api: ['GET', `/assets/${asset.id}`] }]}
    >
      <p>
        <Link href={hrefWith('/assets', { workspace })}>← Assets of {workspace}</Link>
      </p>
      <KeyValues
        facts={{
          Type: asset.asset_type,
          State: <RecordState state={asset.state} />,
          Value: place,
          URL: asset.url === '' ? '' : <ExternalLink href={asset.url} />,
          Title: asset.title,
          Host: host === '' ? '' : <Link href={hostPath(host)}>{host}</Link>,
          Address: asset.host_ip,
          'HTTP status': asset.status_code || '',
          Content: asset.content_type,
          TLS: asset.tls,
          'Open ports': asset.open_ports.join(', '),
          Technologies: asset.technologies.join(', '),
          'DNS records': asset.dns_records.join(', '),
          Remarks: asset.remarks.join(', '),
          'First seen': <Time at={asset.first_seen} />,
          'Last seen': <Time at={asset.last_seen} />,
          'Last changed': <Time at={asset.updated_at} />,
          Gone: timeIf(asset.gone_at),
          'Seen by': asset.times_seen === 1 ? '1 scan' : `${asset.times_seen} scans`,
          Source: asset.source,
        }}
      />
      <UrlTabs
        label="Parts of the asset"
        tabs={[
          tab(
            'findings',
            'Findings',
            <FindingList
              label="Findings of the asset"
              filters={{ workspace, asset_value: place, state: 'open,gone' }}
              none="No findings"
              advice={`No finding of this workspace has a place with “${place}”.`}
            />,
          ),
          tab('runs', `Runs (${asset.runs.length})`, <SeenBy runs={asset.runs} kind="assets" />),
          tab(
            'raw',
            'Raw record',
            <RawRecord
              title="Output of the tool"
              text={asset.raw_json_data}
              none="The tool gave no JSON for this asset."
            />,
          ),
        ]}
      />
    </Page>
  )
}

export const Screen = recordScreen('Asset', assetQuery, (asset) => <AssetPage asset={asset} />)
