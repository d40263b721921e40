import { sql, type Kysely, type RawBuilder } from 'kysely'
import { decodeCursor } from '../cursor.ts'
import { pageOf, readPage } from '../page.ts'
import type { EventLogEntry } from '../store.ts'
import { canBeStored, storable, storableJson } from '../text.ts'
import { eventJson } from '../triggers/firing-json.ts'
import type { Delivery, Subscription, SubscriptionDraft, Webhooks } from './port.ts'

/** Each event is compared with all of them. */
export const MAX_SUBSCRIPTIONS = 200

const SUBSCRIPTION = sql`
  id, name, url, topics, filters, format, secret, enabled, since, created_at as "createdAt", updated_at as "updatedAt"`
const DELIVERY = sql`
  d.id, subscription_id, event_id, topic, status, attempts, next_at, last_status, last_error, created_at, delivered_at`
const END = sql`(select pg_snapshot_xmin(pg_current_snapshot()) || '-0')`

export const makeWebhooks = (db: Kysely<unknown>): Webhooks => ({
  ...incoming(db),
  ...subscriptions(db),
  ...deliveries(db),
})

const first = async <T>(db: Kysely<unknown>, query: RawBuilder<T>): Promise<T | undefined> =>
  (await query.execute(db)).rows[0]

const incoming = (
  db: Kysely<unknown>,
): Pick<Webhooks, 'addIncoming' | 'incoming' | 'incomingSecret' | 'removeIncoming' | 'receive'> => ({
  addIncoming: async (name, secret) =>
    (await first(
      db,
      sql`insert into incoming_webhooks (name, secret) values (${name}, ${secret})
          on conflict do nothing returning name`,
    )) !== undefined,
  incoming: async () =>
    (
      await sql<{ name: string; created_at: string }>`
        select name, created_at from incoming_webhooks order by name
      `.execute(db)
    ).rows,
  incomingSecret: async (name) => {
    if (!canBeStored(name)) return undefined
    const row = await first(
      db,
      sql<{ secret: string }>`select secret from incoming_webhooks where name = ${name}`,
    )
    return row?.secret
  },
  removeIncoming: async (name) =>
    (await first(db, sql`delete from incoming_webhooks where name = ${storable(name)} returning name`)) !==
    undefined,
  receive: async ({ name, signature, forgetMs, event }) => {
    await sql`delete from webhook_receipts where received_at < now() - ${forgetMs} * interval '1 ms'`.execute(
      db,
    )
    const row = await first(
      db,
      sql`
        with receipt as (
          insert into webhook_receipts (name, signature) values (${name}, ${signature})
          on conflict do nothing returning name)
        select insert_event(${storableJson(eventJson(event))}::jsonb, not event_is_wanted(${storable(event.topic)}), '')
        from receipt`,
    )
    return row !== undefined
  },
})

const subscriptions = (
  db: Kysely<unknown>,
): Pick<Webhooks, 'subscriptions' | 'subscription' | 'subscribe' | 'changeSubscription' | 'unsubscribe'> => ({
  subscriptions: async () =>
    (await sql<Subscription>`select ${SUBSCRIPTION} from webhook_subscriptions order by id`.execute(db)).rows,
  subscription: (id) =>
    first(db, sql<Subscription>`select ${SUBSCRIPTION} from webhook_subscriptions where id = ${id}`),
  subscribe: (draft) =>
    db.transaction().execute(async (tx) => {
      await skipAhead(tx)
      return first(
        tx,
        sql<Subscription>`
          insert into webhook_subscriptions (name, url, topics, filters, format, secret, enabled)
          select ${valuesOf(draft)} where (select count(*) from webhook_subscriptions) < ${MAX_SUBSCRIPTIONS}
          returning ${SUBSCRIPTION}`,
      )
    }),
  changeSubscription: (id, draft) =>
    db.transaction().execute(async (tx) => {
      await skipAhead(tx)
      return first(
        tx,
        sql<Subscription>`
          update webhook_subscriptions
          set (name, url, topics, filters, format, secret, enabled) = (select ${valuesOf(draft)}), updated_at = now(),
              since = case when enabled then since else now() end
          where id = ${id} returning ${SUBSCRIPTION}`,
      )
    }),
  unsubscribe: async (id) =>
    (await first(db, sql`delete from webhook_subscriptions where id = ${id} returning id`)) !== undefined,
})

/** While nobody was subscribed the cursor stood still; what came meanwhile is not looked through. */
const skipAhead = async (tx: Kysely<unknown>): Promise<void> => {
  await sql`
    update webhook_cursor set position = ${END}
    where not exists (select from webhook_subscriptions where enabled)
  `.execute(tx)
}

const valuesOf = (draft: SubscriptionDraft) => sql`
  ${storable(draft.name)}, ${storable(draft.url)}, ${draft.topics.map(storable)}::text[],
  ${draft.filters.map(storable)}::text[], ${draft.format}, ${storable(draft.secret)}, ${draft.enabled}::boolean`

const deliveries = (
  db: Kysely<unknown>,
): Pick<Webhooks, 'cursor' | 'advance' | 'due' | 'settle' | 'deliveries' | 'redeliver' | 'prune'> => ({
  cursor: async () =>
    (await first(db, sql<{ position: string }>`select position from webhook_cursor`))?.position ?? '0-0',
  advance: async (from, to, made) => {
    const row = await first(
      db,
      sql`
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
        select position from moved`,
    )
    return row !== undefined
  },
  due: async ({ limit, leaseMs }) => {
    const { rows } = await sql<{ id: number; attempts: number; subscription: number; event: number }>`
      update webhook_deliveries
      set attempts = attempts + 1, next_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
      where id in (
        select d.id from webhook_deliveries d join webhook_subscriptions s on s.id = d.subscription_id
        where d.status = 'pending' and d.next_at <= clock_timestamp() and s.enabled
        order by d.next_at limit ${limit} for update of d skip locked)
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
  settle: async (id, outcome) => {
    const failed = 'retryMs' in outcome ? outcome : undefined
    const status = failed === undefined ? 'delivered' : failed.retryMs === null ? 'dead' : 'pending'
    await sql`
      update webhook_deliveries
      set status = ${status}, last_status = ${outcome.status}, last_error = ${storable(failed?.error ?? '')},
          delivered_at = case when ${status}::text = 'delivered' then now() end,
          next_at = clock_timestamp() + ${failed?.retryMs ?? 0}::bigint * interval '1 ms'
      where id = ${id} and status = 'pending'
    `.execute(db)
  },
  deliveries: async ({ status = null, subscriptionId = null }, page) => {
    const before = page.cursor === undefined ? null : decodeCursor(page.cursor)
    const where = sql`(${status}::text is null or status = ${status})
      and (${subscriptionId}::bigint is null or subscription_id = ${subscriptionId})`
    const [found, total] = await Promise.all([
      readPage<Delivery>(db, {
        ids: sql`select id from webhook_deliveries where ${where} and (${before}::bigint is null or id < ${before})
                 order by id desc limit ${page.limit} offset ${before === null ? page.offset : 0}`,
        from: sql`webhook_deliveries d`,
        id: sql`d.id`,
        bytes: sql`octet_length(topic) + octet_length(last_error)`,
        columns: DELIVERY,
      }),
      sql<{ total: number }>`select count(*) as total from webhook_deliveries where ${where}`.execute(db),
    ])
    return pageOf(found, {
      total: total.rows[0]?.total ?? 0,
      limit: page.limit,
      idOf: (row) => row.id,
      item: (row) => row,
    })
  },
  redeliver: (id) =>
    first(
      db,
      sql<Delivery>`
        update webhook_deliveries d set status = 'pending', attempts = 0, next_at = now(), delivered_at = null
        where id = ${id} returning ${DELIVERY}`,
    ),
  prune: async (days) => {
    await sql`
      delete from webhook_deliveries where status = 'delivered' and delivered_at < now() - ${days} * interval '1 day'
    `.execute(db)
  },
})
