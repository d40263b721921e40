import './cloud.css'
import { useQuery } from '@tanstack/react-query'
import { overviewQuery } from '../../api/farm.ts'
import { EmptyState, Figure, Loaded, Page, Share, tab, UrlTabs, useFilters } from '../../ui/index.ts'
import type { Overview } from '../overview/attention.ts'
import { dollars } from './cost.ts'
import { Estimate } from './estimate.tsx'
import { InfraPage } from './infra.tsx'
import { Infras } from './infras.tsx'
import { Providers } from './providers.tsx'

type Cloud = Overview['cloud']

interface LimitProps {
  readonly name: string
  readonly used: number
  readonly most: number | null
  readonly text: (amount: number) => string
}

/** How much of a limit is used. */
const Limit = ({ name, used, most, text }: LimitProps) => (
  <Figure name={name} value={text(used)}>
    {most === null ? (
      'without a limit'
    ) : (
      <>
        of {text(most)}
        <Share value={used} of={most} tone={used > most * 0.8 ? 'warn' : undefined} label={name} />
      </>
    )}
  </Figure>
)

const Budget = ({
  cloud: { machines, max_machines, booked_cost, max_cost, hourly_cost, cost_24h },
}: {
  cloud: Cloud
}) => (
  <dl className="figures">
    <Limit name="Booked until the machines expire" used={booked_cost} most={max_cost} text={dollars} />
    <Limit name="Machines" used={machines} most={max_machines} text={(count) => count.toLocaleString()} />
    <Figure name="Now" value={dollars(hourly_cost, 4)}>
      an hour
    </Figure>
    <Figure name="Last 24 hours" value={dollars(cost_24h)} />
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
