import './cloud.css'
import { useQuery } from '@tanstack/react-query'
import { overviewQuery } from '../../api/farm.ts'
import { EmptyState, Loaded, Page, Share, tab, UrlTabs, useFilters } from '../../ui/index.ts'
import type { Overview } from '../overview/attention.ts'
import { dollars } from './cost.ts'
import { Estimate } from './estimate.tsx'
import { InfraPage } from './infra.tsx'
import { Infras } from './infras.tsx'
import { Providers } from './providers.tsx'

type Cloud = Overview['cloud']

/** How much of a limit is used. */
const Limit = ({
  name,
  used,
  most,
  text,
}: {
  name: string
  used: number
  most: number | null
  text: (amount: number) => string
}) => (
  <div>
    <dt className="caption">{name}</dt>
    <dd>
      <strong className="number">{text(used)}</strong>
      <span className="muted">{most === null ? ' without a limit' : ` of ${text(most)}`}</span>
    </dd>
    {most === null ? null : (
      <dd>
        <Share value={used} of={most} tone={used > most * 0.8 ? 'warn' : undefined} label={name} />
      </dd>
    )}
  </div>
)

const Budget = ({
  cloud: { machines, max_machines, booked_cost, max_cost, hourly_cost, cost_24h },
}: {
  cloud: Cloud
}) => (
  <dl className="grid budget">
    <Limit name="Booked until the machines expire" used={booked_cost} most={max_cost} text={dollars} />
    <Limit name="Machines" used={machines} most={max_machines} text={(count) => count.toLocaleString()} />
    <div>
      <dt className="caption">Now</dt>
      <dd>
        <strong className="number">{dollars(hourly_cost, 4)}</strong> <span className="muted">an hour</span>
      </dd>
    </div>
    <div>
      <dt className="caption">Last 24 hours</dt>
      <dd>
        <strong className="number">{dollars(cost_24h)}</strong>
      </dd>
    </div>
  </dl>
)

const Overall = ({ cloud }: { cloud: Cloud }) => (
  <>
    <Budget cloud={cloud} />
    <UrlTabs
      label="Parts of the cloud"
      tabs={[
        tab('machines', 'Machines', <Infras />),
        tab('providers', 'Providers', <Providers />),
        tab('estimate', 'Estimate', <Estimate />),
      ]}
    />
  </>
)

export const Screen = () => {
  const [{ infra }] = useFilters(['infra'])
  const query = useQuery(overviewQuery)
  if (infra !== undefined) return <InfraPage id={infra} />
  return (
    <Page
      title="Cloud"
      commands={[
        { title: 'List infrastructures', cli: ['cloud', 'list'], api: ['GET', '/cloud/instances'] },
        { title: 'List providers', cli: ['cloud', 'providers'], api: ['GET', '/cloud/providers'] },
      ]}
    >
      <Loaded query={query}>
        {({ cloud }) =>
          cloud.enabled ? (
            <Overall cloud={cloud} />
          ) : (
            <EmptyState title="Cloud runs are turned off">
              Set <code>cloud.enabled</code> to true and the credentials of a provider in the settings, and
              restart the server.
            </EmptyState>
          )
        }
      </Loaded>
    </Page>
  )
}
