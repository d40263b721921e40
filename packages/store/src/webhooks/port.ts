import type { FeedPosition } from '../events/feed.ts'
import type { EventLogEntry, PageOf, PageRequest } from '../store.ts'
import type { EventDraft } from '../triggers/port.ts'

export type WebhookFormat = 'json' | 'slack' | 'discord'

export interface SubscriptionDraft {
  readonly name: string
  readonly url: string
  /** Topics or shell globs. */
  readonly topics: readonly string[]
  readonly filters: readonly string[]
  readonly format: WebhookFormat
  readonly secret: string
  readonly enabled: boolean
}

export interface Subscription extends SubscriptionDraft {
  readonly id: number
  /** ISO 8601; events before this are not told. */
  readonly since: string
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Delivery {
  readonly id: number
  readonly subscription_id: number
  readonly event_id: string
  readonly topic: string
  readonly status: 'pending' | 'delivered' | 'dead'
  readonly attempts: number
  readonly next_at: string
  /** Of the last answer; 0: there was none. */
  readonly last_status: number
  readonly last_error: string
  readonly created_at: string
  readonly delivered_at: string | null
}

export interface DueDelivery {
  readonly id: number
  /** This one included. */
  readonly attempts: number
  readonly subscription: Subscription
  /** Undefined: the event has been removed from the log. */
  readonly event: EventLogEntry | undefined
}

export interface Webhooks {
  /** False when there is one of that name. */
  addIncoming(name: string, secret: string): Promise<boolean>
  incoming(): Promise<{ name: string; created_at: string }[]>
  incomingSecret(name: string): Promise<string | undefined>
  removeIncoming(name: string): Promise<boolean>
  /**
   * Notes a signature and writes the event, both or neither; false when the signature was noted before. Those older
   * than `forgetMs` are forgotten.
   */
  receive(request: { name: string; signature: string; forgetMs: number; event: EventDraft }): Promise<boolean>

  subscriptions(): Promise<Subscription[]>
  subscription(id: number): Promise<Subscription | undefined>
  /** Undefined: there are too many. */
  subscribe(draft: SubscriptionDraft): Promise<Subscription | undefined>
  changeSubscription(id: number, draft: SubscriptionDraft): Promise<Subscription | undefined>
  unsubscribe(id: number): Promise<boolean>

  cursor(): Promise<FeedPosition>
  /** Makes deliveries and moves the cursor, both or neither; false: another master has moved it. */
  advance(
    from: FeedPosition,
    to: FeedPosition,
    deliveries: readonly { subscriptionId: number; event: EventLogEntry }[],
  ): Promise<boolean>
  /** Deliveries whose time has come; they come again after `leaseMs` unless they are settled. */
  due(options: { limit: number; leaseMs: number }): Promise<DueDelivery[]>
  /** `retryMs` null: it is given up. */
  settle(
    id: number,
    outcome: { status: number } | { status: number; error: string; retryMs: number | null },
  ): Promise<void>
  deliveries(
    filter: { status?: Delivery['status']; subscriptionId?: number },
    page: PageRequest,
  ): Promise<PageOf<Delivery>>
  /** Puts a delivery up again from its first attempt; undefined for an unknown one. */
  redeliver(id: number): Promise<Delivery | undefined>
  /** Delivered ones older than this go. */
  prune(days: number): Promise<void>
}
