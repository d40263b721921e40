import { useState, type ReactNode } from 'react'
import type { DataOf } from '../../api/list.ts'
import { assetsQuery, hostPath, hostQuery } from '../../api/assets.ts'
import {
  DataTable,
  hrefWith,
  KeyValues,
  Link,
  Page,
  recordScreen,
  RecordState,
  SeenBy,
  SeverityCounts,
  sumOf,
  Time,
  tab,
  UrlTabs,
  useList,
  column,
  type Column,
} from '../../ui/index.ts'
import { COLUMNS } from '../assets/columns.tsx'
import { FindingList } from '../findings/list.tsx'

type Host = DataOf<typeof hostQuery>
type Port = Host['ports'][number]

/** Sorted by a field. */
const by = (width: string, name: keyof Port) => ({
  width,
  sort: (port: Port) => port[name],
})

const PORTS: readonly Column<Port>[] = [
  column('port', 'Port', by('90px', 'port'), ({ port }) => <span className="number">{port}</span>),
  column('service', 'Service', by('minmax(160px, 3fr)', 'service'), 'service'),
  column('workspace', 'Workspace', by('minmax(100px, 1fr)', 'workspace'), 'workspace'),
  column('state', 'State', by('70px', 'state'), ({ state }) => <RecordState state={state} />),
  column('first', 'First seen', by('84px', 'first_seen'), (port) => <Time at={port.first_seen} />),
  column('last', 'Last seen', by('84px', 'last_seen'), (port) => <Time at={port.last_seen} />),
]

const Assets = ({ host }: { host: string }) => {
  const [sort, setSort] = useState('')
  return (
    <DataTable
      label="Assets of the host"
      columns={COLUMNS}
      list={useList(assetsQuery({ host, state: 'open,gone', ...(sort === '' ? {} : { sort }) }))}
      order={{ value: sort, onChange: setSort }}
      keyOf={({ id }) => String(id)}
      hrefOf={({ id }) => `/assets/${id}`}
      none="No assets"
      advice="Only findings name this host."
    />
  )
}

/** Names and addresses of the same machine, each with its own page. */
const others = (hosts: readonly string[], host: string): ReactNode => {
  const rest = hosts.filter((other) => other !== host)
  if (rest.length === 0) return ''
  return (
    <span className="line gap-6">
      {rest.map((other) => (
        <span key={other} className="chip">
          <Link href={hostPath(other)}>{other}</Link>
        </span>
      ))}
    </span>
  )
}

const HostPage = ({ found }: { found: Host }) => {
  const { host, ports } = found
  return (
    <Page title={host} commands={[{ title: 'Read the host', api: ['GET', hostPath(host)] }]}>
      <KeyValues
        facts={{
          'Open findings': <SeverityCounts counts={found.findings} />,
          Names: others(found.names, host),
          Addresses: others(found.addresses, host),
          Technologies: found.technologies.join(', '),
          Workspaces: (
            <span>
              {found.workspaces.map((workspace, index) => (
                <span key={workspace}>
                  {index === 0 ? '' : ', '}
                  <Link href={hrefWith('/findings', { workspace, host })}>{workspace}</Link>
                </span>
              ))}
            </span>
          ),
        }}
      />
      <UrlTabs
        label="Parts of the host"
        tabs={[
          tab(
            'findings',
            `Open findings (${sumOf(found.findings)})`,
            <FindingList
              label="Open findings of the host"
              filters={{ host, state: 'open' }}
              none="No open findings"
              advice="Gone lists those that are gone or decided."
            />,
          ),
          tab(
            'gone',
            'Gone',
            <FindingList
              label="Findings of the host that are gone or decided"
              filters={{ host, state: 'gone' }}
              none="Nothing is gone"
              advice="No finding of this host was closed."
            />,
          ),
          tab(
            'ports',
            `Ports (${ports.length})`,
            <DataTable
              label="Ports of the host"
              columns={PORTS}
              list={{ rows: ports, total: ports.length }}
              keyOf={({ port, workspace }) => `${port} ${workspace}`}
              none="No ports"
              advice="No scan found an open port."
            />,
          ),
          tab('assets', `Assets (${found.assets})`, <Assets host={host} />),
          tab('runs', `Runs (${found.runs.length})`, <SeenBy runs={found.runs} kind="vulnerabilities" />),
        ]}
      />
    </Page>
  )
}

export const Screen = recordScreen('Host', hostQuery, (found) => <HostPage found={found} />, 'host')
