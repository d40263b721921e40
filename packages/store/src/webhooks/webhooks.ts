import type { Delivery, EventLogEntry, IncomingWebhook, WebhookSubscription } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { FeedPosition } from '../events/feed.ts'
import { newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored, storable, storableJson } from '../text.ts'
import type { EventDraft } from '../triggers/execution-plan.ts'
import type { Tables } from '../tables.ts'
import { allRows, changedRows, firstRow, firstValue } from '../rows.ts'

export interface Subscription extends WebhookSubscription {
  readonly secret: string
  /** ISO 8601; earlier events are not delivered. */
  readonly since: string
}
export interface SubscriptionDraft extends Omit<
  Subscription,
  'id' | 'topics' | 'filters' | 'since' | 'created_at' | 'updated_at'
> {
  readonly topics: readonly string[]
  readonly filters: readonly string[]
}

/** How an attempt ended. `retryMs` null: the delivery is given up. */
export type DeliveryOutcome = {
  readonly status: number
  /** The beginning of the answer. */
  readonly answer: string
  readonly ms: number
} & ({ readonly error?: undefined } | { readonly error: string; readonly retryMs: number | null })

export interface DueDelivery {
  readonly id: number
  /** Including this one. */
  readonly attempts: number
  readonly subscription: Subscription
  /** Undefined: the event was deleted from the log. */
  readonly event: EventLogEntry | undefined
}

/** Limited, because each event is compared with all of them. */
export const MAX_SUBSCRIPTIONS = 200

const DRAFT = sql`name, url, topics, filters, format, min_severity, template, report, secret, enabled`
const SUBSCRIPTION = sql`id, ${DRAFT}, since, created_at, updated_at`
const DELIVERY = sql`
  d.id, subscription_id, event_id, topic, status, attempts, next_at, last_status, last_error, created_at, delivered_at,
  last_attempt_at, last_ms, last_answer,
  (select name from webhook_subscriptions where id = subscription_id) as subscription`
const END = sql`(select pg_snapshot_xmin(pg_current_snapshot()) || '-0')`

export const makeWebhooks = (db: Kysely<Tables>) => ({
  ...incoming(db),
  ...subscriptions(db),
  ...deliveries(db),
})

const incoming = (db: Kysely<Tables>) => ({
  /** False if the name exists. */
  addIncoming: async (name: string, secret: string): Promise<boolean> =>
    (await db
      .insertInto('incoming_webhooks')
      .values({ name, secret })
      .onConflict((conflict) => conflict.doNothing())
      .returning('name')
      .executeTakeFirst()) !== undefined,
  incoming: (): Promise<IncomingWebhook[]> =>
    db
      .selectFrom('incoming_webhooks')
      .select(['name', 'created_at', 'last_received_at', 'received_count'])
      .orderBy('name')
      .execute(),
  incomingSecret: async (name: string): Promise<string | undefined> => {
    if (!canBeStored(name)) return undefined
    return await firstValue<string | undefined>(db, undefined)`
      select secret from incoming_webhooks where name = ${name}`
  },
  removeIncoming: async (name: string): Promise<boolean> =>
    (await changedRows(db)`delete from incoming_webhooks where name = ${storable(name)}`) > 0,
  /** Stores a signature and its event at once; false if it was stored before. Deletes those past `forgetMs`. */
  receive: async (request: {
    name: string
    signature: string
    forgetMs: number
    event: EventDraft
  }): Promise<boolean> => {
    const { name, signature, forgetMs, event } = request
    await db
      .deleteFrom('webhook_receipts')
      .where('received_at', '<', sql<string>`now() - ${forgetMs} * interval '1 ms'`)
      .execute()
    const row = await firstRow(db)`
        with receipt as (
          insert into webhook_receipts (name, signature) values (${name}, ${signature})
          on conflict do nothing returning name),
        counted as (
          update incoming_webhooks set last_received_at = now(), received_count = received_count + 1
          where name in (select name from receipt))
        select insert_event(${storableJson(event)}::jsonb, not event_is_wanted(${storable(event.topic)}), '')
        from receipt`
    return row !== undefined
  },
})

const subscriptions = (db: Kysely<Tables>) => ({
  subscriptions: (): Promise<Subscription[]> =>
    allRows(db)`select ${SUBSCRIPTION} from webhook_subscriptions order by id`,
  subscription: (id: number): Promise<Subscription | undefined> =>
    firstRow(db)`select ${SUBSCRIPTION} from webhook_subscriptions where id = ${id}`,
  /** Undefined: the limit is reached. */
  subscribe: (draft: SubscriptionDraft): Promise<Subscription | undefined> =>
    db.transaction().execute(async (tx) => {
      await skipAhead(tx)
      return firstRow(tx)<Subscription>`
        insert into webhook_subscriptions (${DRAFT})
        select ${valuesOf(draft)} where (select count(*) from webhook_subscriptions) < ${MAX_SUBSCRIPTIONS}
        returning ${SUBSCRIPTION}`
    }),
  changeSubscription: (id: number, draft: SubscriptionDraft): Promise<Subscription | undefined> =>
    db.transaction().execute(async (tx) => {
      await skipAhead(tx)
      return firstRow(tx)<Subscription>`
        update webhook_subscriptions
        set (${DRAFT}) = (select ${valuesOf(draft)}), updated_at = now(),
            since = case when enabled then since else now() end
        where id = ${id} returning ${SUBSCRIPTION}`
    }),
  unsubscribe: async (id: number): Promise<boolean> =>
    (await changedRows(db)`delete from webhook_subscriptions where id = ${id}`) > 0,
})

/** The cursor does not move while there is no subscription; this skips the events of that time. */
const skipAhead = async (tx: Kysely<Tables>): Promise<void> => {
  await sql`
    update webhook_cursor set position = ${END}
    where not exists (select from webhook_subscriptions where enabled)
  `.execute(tx)
}

const valuesOf = (draft: SubscriptionDraft) => sql`
  ${storable(draft.name)}, ${storable(draft.url)}, ${draft.topics.map(storable)}::text[],
  ${draft.filters.map(storable)}::text[], ${draft.format}, ${draft.min_severity}, ${storable(draft.template)},
  ${draft.report}::boolean, ${storable(draft.secret)}, ${draft.enabled}::boolean`

const deliveries = (db: Kysely<Tables>) => ({
  cursor: (): Promise<FeedPosition> => firstValue(db, '0-0')`select position from webhook_cursor`,
  /** Creates deliveries and moves the cursor in one statement; false: another master has moved it. */
  advance: async (
    from: FeedPosition,
    to: FeedPosition,
    made: readonly { subscriptionId: number; event: EventLogEntry }[],
  ): Promise<boolean> => {
    const row = await firstRow(db)`
        with moved as (update webhook_cursor set position = ${to} where position = ${from} returning position),
        made as (
          insert into webhook_deliveries (subscription_id, event_no, event_id, topic, status)
          select s.id, m.no, m.event_id, m.topic, 'pending'
          from unnest(${made.map((one) => one.subscriptionId)}::bigint[], ${made.map((one) => one.event.id)}::bigint[],
                      ${made.map((one) => one.event.event_id)}::text[], ${made.map((one) => one.event.topic)}::text[])
               as m(subscription_id, no, event_id, topic)
          join webhook_subscriptions s on s.id = m.subscription_id
          where exists (select from moved)
          on conflict do nothing)
        select position from moved`
    return row !== undefined
  },
  /**
   * Leases due deliveries; unless they are settled, they are due again after `leaseMs`. `receivers` are the subscriptions to
   * which deliveries are being sent, once for each; no subscription has more than `each` with them.
   */
  due: async (of: {
    receivers: readonly number[]
    limit: number
    each: number
    leaseMs: number
  }): Promise<DueDelivery[]> => {
    const { receivers, limit, each, leaseMs } = of
    const { rows } = await sql<{ id: number; attempts: number; subscription: number; event: number }>`
      update webhook_deliveries
      set attempts = attempts + 1, next_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
      where id in (
        select d.id from webhook_subscriptions s cross join lateral (
          select id, next_at from webhook_deliveries
          where subscription_id = s.id and status = 'pending' and next_at <= clock_timestamp()
          order by next_at
          limit greatest(0, ${each} - (select count(*) from unnest(${receivers}::bigint[]) r where r = s.id))
          for update skip locked) d
        where s.enabled order by d.next_at limit ${limit})
      returning id, attempts, subscription_id as subscription, event_no as event
    `.execute(db)
    if (rows.length === 0) return []
    const [known, events] = await Promise.all([
      sql<Subscription>`select ${SUBSCRIPTION} from webhook_subscriptions`.execute(db),
      sql<EventLogEntry>`
        select id, topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed,
               processed_at, error, created_at
        from event_logs where id = any(${rows.map(({ event }) => event)}::bigint[])
      `.execute(db),
    ])
    return rows.flatMap(({ id, attempts, subscription: subscriptionId, event: eventNo }) => {
      const subscription = known.rows.find((one) => one.id === subscriptionId)
      const event = events.rows.find((one) => one.id === eventNo)
      return subscription === undefined ? [] : [{ id, attempts, subscription, event }]
    })
  },
  /** Leases deliveries for longer. */
  renew: async (ids: readonly number[], leaseMs: number): Promise<void> => {
    await sql`
      update webhook_deliveries set next_at = greatest(next_at, clock_timestamp() + ${leaseMs} * interval '1 ms')
      where id = any(${ids}::bigint[]) and status = 'pending'
    `.execute(db)
  },
  settle: async (id: number, outcome: DeliveryOutcome): Promise<void> => {
    const failed = outcome.error === undefined ? undefined : outcome
    const status = failed === undefined ? 'delivered' : failed.retryMs === null ? 'dead' : 'pending'
    await sql`
      update webhook_deliveries
      set status = ${status}, last_status = ${outcome.status}, last_error = ${storable(failed?.error ?? '')},
          last_answer = ${storable(outcome.answer)}, last_ms = ${outcome.ms}, last_attempt_at = now(),
          delivered_at = case when ${status}::text = 'delivered' then now() end,
          next_at = clock_timestamp() + ${failed?.retryMs ?? 0}::bigint * interval '1 ms'
      where id = ${id} and status = 'pending'
    `.execute(db)
  },
  deliveries: (
    { status, subscriptionId }: { status?: Delivery['status']; subscriptionId?: number },
    page: PageRequest,
  ): Promise<PageOf<Delivery>> =>
    newestFirst(db, page, {
      from: sql`webhook_deliveries d`,
      id: sql`d.id`,
      conditions: [
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(subscriptionId === undefined ? [] : [sql`subscription_id = ${subscriptionId}`]),
      ],
      bytes: sql`octet_length(topic) + octet_length(last_error) + octet_length(last_answer)`,
      columns: DELIVERY,
    }),
  /** Restarts a delivery from its first attempt; undefined for an unknown one. */
  redeliver: (id: number): Promise<Delivery | undefined> =>
    firstRow(db)`
      update webhook_deliveries d set status = 'pending', attempts = 0, next_at = now(), delivered_at = null
      where id = ${id} returning ${DELIVERY}`,
  /** Deletes completed deliveries older than this. */
  prune: async (days: number): Promise<void> => {
    await sql`
      delete from webhook_deliveries where status = 'delivered' and delivered_at < now() - ${days} * interval '1 day'
    `.execute(db)
  },
})
