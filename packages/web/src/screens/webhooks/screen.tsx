import { useRefusal } from '../../api/role.ts'
import { Commands, EmptyState, Page, tab, UrlTabs } from '../../ui/index.ts'
import { Deliveries } from './deliveries.tsx'
import { Incoming } from './incoming.tsx'
import { Subscriptions } from './subscriptions.tsx'

export const Screen = () => {
  const refusal = useRefusal('admin')
  return (
    <Page
      title="Webhooks"
      actions={
        <Commands
          lines={[
            { title: 'List the subscriptions', api: ['GET', '/webhook-subscriptions'] },
            { title: 'List dead deliveries', api: ['GET', '/webhook-deliveries?status=dead'] },
            { title: 'List the incoming webhooks', api: ['GET', '/incoming-webhooks'] },
          ]}
        />
      }
    >
      {refusal === undefined ? (
        <UrlTabs
          label="Parts of the page"
          tabs={[
            tab('outgoing', 'Outgoing', <Subscriptions />),
            tab('deliveries', 'Deliveries', <Deliveries />),
            tab('incoming', 'Incoming', <Incoming />),
          ]}
        />
      ) : (
        <EmptyState title="Webhooks are for administrators">{refusal}</EmptyState>
      )}
    </Page>
  )
}
