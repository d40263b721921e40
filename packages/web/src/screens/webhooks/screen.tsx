import { OnlyFor, Page, tab, UrlTabs } from '../../ui/index.ts'
import { Deliveries } from './deliveries.tsx'
import { Incoming } from './incoming.tsx'
import { Subscriptions } from './subscriptions.tsx'

export const Screen = () => (
  <Page
    title="Webhooks"
    commands={[
      { title: 'List the subscriptions', api: ['GET', '/webhook-subscriptions'] },
      { title: 'List dead deliveries', api: ['GET', '/webhook-deliveries?status=dead'] },
      { title: 'List the incoming webhooks', api: ['GET', '/incoming-webhooks'] },
    ]}
  >
    <OnlyFor needs="admin" title="Webhooks are for administrators">
      <UrlTabs
        label="Parts of the page"
        tabs={[
          tab('outgoing', 'Outgoing', <Subscriptions />),
          tab('deliveries', 'Deliveries', <Deliveries />),
          tab('incoming', 'Incoming', <Incoming />),
        ]}
      />
    </OnlyFor>
  </Page>
)
