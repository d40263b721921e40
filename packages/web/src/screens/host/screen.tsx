import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { DataOf } from '../../api/list.ts'
import { assetsQuery, hostPath, hostQuery } from '../../api/assets.ts'
import {
  Commands,
  DataTable,
  EmptyState,
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

const PORTS: readonly Column<Port>[] = [
  column('port', 'Port', { width: '90px', sort: ({ port }) => port }, ({ port }) => (
    <span className="number">{port}</span>
  )),
  column(
    'service',
    'Service',
    { width: 'minmax(160px, 3fr)', sort: ({ service }) => service },
    ({ service }) => <span title={service}>{service}</span>,
  ),
  column(
    'workspace',
    'Workspace',
    { width: 'minmax(100px, 1fr)', sort: ({ workspace }) => workspace },
    ({ workspace }) => workspace,
  ),
  column('state', 'State', { width: '70px', sort: ({ state }) => state }, ({ state }) => (
    <RecordState state={state} />
  )),
  column('first', 'First seen', { width: '84px', sort: ({ first_seen: at }) => at }, ({ first_seen: at }) => (
    <Time at={at} />
  )),
  column('last', 'Last seen', { width: '84px', sort: ({ last_seen: at }) => at }, ({ last_seen: at }) => (
    <Time at={at} />
  )),
]

const Assets = ({ host }: { host: string }) => {
  const navigate = useNavigate()
  const [sort, setSort] = useState('')
  return (
    <DataTable
      label="Assets of the host"
      columns={COLUMNS}
      list={useList(assetsQuery({ host, state: 'open,gone', ...(sort === '' ? {} : { sort }) }))}
      order={{ value: sort, onChange: setSort }}
      keyOf={({ id }) => String(id)}
      onOpen={({ id }) => void navigate({ href: `/assets/${id}` })}
      empty={<EmptyState title="No assets">Only findings name this host.</EmptyState>}
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
    <Page
      title={host}
      actions={<Commands lines={[{ title: 'Read the host', api: ['GET', hostPath(host)] }]} />}
    >
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
              empty={
                <EmptyState title="No open findings">Gone lists those that are gone or decided.</EmptyState>
              }
            />,
          ),
          tab(
            'gone',
            'Gone',
            <FindingList
              label="Findings of the host that are gone or decided"
              filters={{ host, state: 'gone' }}
              empty={<EmptyState title="Nothing is gone">No finding of this host was closed.</EmptyState>}
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
              empty={<EmptyState title="No ports">No scan found an open port.</EmptyState>}
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
