import { api, byId } from '../../api/client.ts'
import { useRefresh } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  deliveriesQuery,
  subscriptionsQuery,
  type Delivery,
  type DeliveryFilters,
} from '../../api/automation.ts'
import {
  FilteredList,
  Button,
  Code,
  Dialog,
  Duration,
  KeyValues,
  plural,
  StatusBadge,
  Time,
  toast,
  useFilters,
  useList,
  column,
  type Column,
} from '../../ui/index.ts'

const REFRESH_MS = 3_000

const AnswerState = ({
  delivery: { last_status: status, last_error: error, attempts },
}: {
  delivery: Delivery
}) => (
  <span title={error}>
    {status > 0 ? `${status}${error === '' ? '' : ` ${error}`}` : attempts > 0 ? error : '–'}
  </span>
)

const columns = (open: (one: Delivery) => void): readonly Column<Delivery>[] => [
  column('topic', 'Topic', 'minmax(130px, 1fr)', (one) => (
    <button type="button" className="bare link-button" onClick={() => open(one)}>
      {one.topic}
    </button>
  )),
  column('to', 'Subscription', 'minmax(120px, 1fr)', 'subscription'),
  column('status', 'Status', '104px', ({ status }) => <StatusBadge status={status} />),
  column('attempts', 'Attempts', { width: '72px', align: 'end' }, 'attempts'),
  column('answer', 'Last answer', 'minmax(160px, 2fr)', (one) => <AnswerState delivery={one} />),
  column('took', 'Took', { width: '64px', align: 'end' }, ({ last_ms: ms }) =>
    ms === null ? '–' : <Duration ms={ms} />,
  ),
  column('last', 'Last attempt', '92px', (one) => <Time at={one.last_attempt_at} />),
  column('next', 'Next', '72px', ({ status, next_at: at }) =>
    status === 'pending' ? <Time at={at} /> : '–',
  ),
  column('created', 'Created', '84px', (one) => <Time at={one.created_at} />),
]

const sendAgain = async (deliveries: readonly Delivery[]): Promise<void> => {
  let sent = 0
  try {
    for (const { id } of deliveries) {
      await api.POST('/webhook-deliveries/{id}/redeliver', byId(id))
      sent += 1
    }
    toast(`${plural(sent, 'delivery is', 'deliveries are')} sent again.`)
  } catch (error) {
    toast(`${sent} are sent again, then: ${error instanceof Error ? error.message : String(error)}`, 'bad')
  }
}

interface DetailsProps {
  readonly delivery: Delivery
  readonly onClose: () => void
  readonly onAgain: () => void
}

const Details = ({ delivery, onClose, onAgain }: DetailsProps) => (
  <Dialog wide onClose={onClose} title={`Delivery of ${delivery.topic}`}>
    <KeyValues
      facts={{
        Status: <StatusBadge status={delivery.status} />,
        Subscription: delivery.subscription,
        Attempts: delivery.attempts,
        'Last attempt': <Time at={delivery.last_attempt_at} />,
        Took: delivery.last_ms === null ? '' : <Duration ms={delivery.last_ms} />,
        'Next attempt': delivery.status === 'pending' ? <Time at={delivery.next_at} /> : '',
        'HTTP status': delivery.last_status || '',
        Event: delivery.event_id,
      }}
    />
    {delivery.last_error === '' ? null : <p className="tone-bad">■ {delivery.last_error}</p>}
    {delivery.last_status === 0 ? null : delivery.last_answer === '' ? (
      <p className="muted">The last answer had no content.</p>
    ) : (
      <Code label="Last answer">{delivery.last_answer}</Code>
    )}
    <div className="dialog-actions line">
      <Button kind="primary" onClick={onAgain}>
        Send again
      </Button>
    </div>
  </Dialog>
)

/** What was sent to the subscriptions, and what they answered. */
export const Deliveries = () => {
  const [{ status = '', subscription_id: subscription = '' }] = useFilters(['status', 'subscription_id'])
  const { data: subscriptions = [] } = useQuery(subscriptionsQuery)
  const [shown, setShown] = useState<number>()
  const refresh = useRefresh()
  const filters = {
    ...(status === '' ? {} : { status }),
    ...(subscription === '' ? {} : { subscription_id: Number(subscription) }),
  } as DeliveryFilters
  // Attempts are no events.
  const list = useList({ ...deliveriesQuery(filters), refetchInterval: REFRESH_MS })
  const again = async (deliveries: readonly Delivery[]) => {
    await sendAgain(deliveries)
    await refresh('webhooks')
  }
  const current = list.rows?.find(({ id }) => id === shown)
  return (
    <div className="stack">
      <FilteredList
        filters={[
          { name: 'status', label: 'Status', options: ['pending', 'delivered', 'dead'] },
          {
            name: 'subscription_id',
            label: 'Subscription',
            options: subscriptions.map(({ id, name }) => ({ value: String(id), label: name })),
          },
        ]}
        label="Deliveries"
        columns={columns(({ id }) => setShown(id))}
        list={list}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => setShown(id)}
        bulk={(rows, clear) => (
          <Button
            onClick={() => {
              clear()
              void again(rows)
            }}
          >
            Send again
          </Button>
        )}
        none="No deliveries"
        advice="Events that a subscription wants appear here."
      />
      {current ? (
        <Details
          delivery={current}
          onClose={() => setShown(undefined)}
          onAgain={() => void again([current])}
        />
      ) : null}
    </div>
  )
}
