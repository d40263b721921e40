import { backoffMs, type EventLogEntry } from '@scanfarm/contracts'
import type { TriggerLanguage } from '@scanfarm/engine'
import { reportPage } from '@scanfarm/findings'
import { errorText, retry, settlesWithin, type Logger } from '@scanfarm/platform'
import type { DeliveryOutcome, DueDelivery, Store, Subscription } from '@scanfarm/store'
import { triggerEvent } from '../triggers/plan-event.ts'
import type { EventReceiver } from '../triggers/event-receiver.ts'
import { topicMatcher } from '../triggers/topics.ts'
import { dataOf } from '../triggers/trigger-registry.ts'
import type { Config } from '../settings.ts'
import { bodyOf, mailOf } from './delivery-body.ts'
import { postTo } from './post.ts'
import { exampleEvent } from './example-event.ts'
import { isSevereEnough } from './threshold.ts'
import { mailAddresses, sendMail, type MailSettings, type Message } from './send-mail.ts'
import { SIGNATURE_HEADER, signatureOf, TIMESTAMP_HEADER } from './signature.ts'

/** Events read in one turn. */
const PAGE = 500
/** Messages that are being sent at the same time, in all and to one receiver. */
const AT_ONCE = 40
const FOR_ONE = 4
/** How often due deliveries are looked for while others are being sent. */
const POLL_MS = 500
/** How long a master that died keeps its deliveries; one that works, or stops, renews them. */
const LEASE_MS = 30_000
/** How long a master that stops waits for answers: what is sent again after that may arrive twice. */
const STOP_MS = 30_000
/** An endpoint has the message already: until the database can be told so, for about 30 s. */
const RECORDING = { backoff: { firstMs: 100, mostMs: 2_000 }, attempts: 20 }
/** Attempts before a delivery is given up, over about five hours. */
export const MAX_ATTEMPTS = 10
const FIRST_RETRY_MS = 10_000
const LONGEST_RETRY_MS = 3_600_000

export interface WebhookSenderParts {
  readonly webhooks: Store['webhooks']
  readonly feed: Store['feed']
  readonly receiver: Pick<EventReceiver, 'planning'>
  readonly options: SendOptions
  readonly log: Logger
  readonly leaseMs?: number
}

/**
 * Delivers events to subscribers, in no particular order. An event becomes one delivery for each subscription that
 * matches; any master sends it, and records that it arrived. It is sent again, with the same id, if the endpoint did not
 * accept it, or if the master died in between.
 */
export class WebhookSender {
  readonly #parts: WebhookSenderParts

  constructor(parts: WebhookSenderParts) {
    this.#parts = parts
  }

  /** One turn: creates deliveries for new events. Returns true if there are more. */
  async fanOutOnce(signal: AbortSignal): Promise<boolean> {
    const { webhooks, feed } = this.#parts
    const wanting = (await webhooks.subscriptions()).filter(({ enabled }) => enabled)
    if (wanting.length === 0) return false
    const from = await webhooks.cursor()
    const { entries, next, more } = await feed.read({ after: from, limit: PAGE })
    // No event was read, so the cursor need not move.
    if (entries.length === 0) return false
    const made: { subscriptionId: number; event: EventLogEntry }[] = []
    for (const subscription of wanting) {
      const matches = subscription.topics.map(topicMatcher)
      for (const event of entries) {
        if (event.created_at < subscription.since || !matches.some((match) => match(event.topic))) continue
        signal.throwIfAborted()
        if (await this.#passes(subscription, event, signal))
          made.push({ subscriptionId: subscription.id, event })
      }
    }
    await webhooks.advance(from, next, made)
    return more
  }

  async #passes(subscription: Subscription, event: EventLogEntry, signal: AbortSignal): Promise<boolean> {
    if (!isSevereEnough(event.data, subscription.min_severity)) return false
    const about = triggerEvent(event, event.created_at)
    try {
      for (const filter of subscription.filters)
        if (!(await this.#parts.receiver.planning.language.value(filter, about, signal))) return false
      return true
    } catch (error) {
      signal.throwIfAborted()
      this.#parts.log.warn('the filter of a webhook subscription failed', {
        subscription: subscription.id,
        event: event.event_id,
        error,
      })
      return false
    }
  }

  /**
   * One turn: sends deliveries that are due, also those that become due meanwhile, until nothing is being sent. Each receiver has
   * a few places, so that one that hangs, like a mail server, holds up no other. A turn that is stopped starts nothing more, and
   * ends when what it sends has arrived, or `STOP_MS` later.
   */
  async deliverOnce(signal: AbortSignal): Promise<void> {
    const { log, leaseMs = LEASE_MS } = this.#parts
    const open = new Map<number, { readonly receiver: number; readonly sent: Promise<void> }>()
    let renewedAt = performance.now()
    let stoppedAt = Infinity
    do {
      if (signal.aborted) stoppedAt = Math.min(stoppedAt, performance.now())
      const receivers = [...open.values()].map(({ receiver }) => receiver)
      const due = signal.aborted ? [] : await this.#due(receivers)
      for (const delivery of due) {
        const sent = this.#deliver(delivery).finally(() => open.delete(delivery.id))
        open.set(delivery.id, { receiver: delivery.subscription.id, sent })
      }
      if (open.size === 0) {
        // Those that arrived meanwhile have left places for others.
        if (receivers.length > 0 && !signal.aborted) continue
        return
      }
      await settlesWithin(Promise.race([...open.values()].map(({ sent }) => sent)), POLL_MS)
      if (performance.now() - renewedAt < leaseMs / 2) continue
      renewedAt = performance.now()
      await this.#parts.webhooks
        .renew([...open.keys()], leaseMs)
        .catch((error: unknown) => log.warn('deliveries that are being sent could not be kept', { error }))
    } while (performance.now() - stoppedAt < STOP_MS)
  }

  /** The next deliveries, beside those to `receivers`, of which each has a delivery. */
  async #due(receivers: readonly number[]): Promise<readonly DueDelivery[]> {
    const limit = AT_ONCE - receivers.length
    if (limit <= 0) return []
    const due = this.#parts.webhooks.due({
      receivers,
      limit,
      each: FOR_ONE,
      leaseMs: this.#parts.leaseMs ?? LEASE_MS,
    })
    // What is being sent is not given up while the database is away.
    return receivers.length === 0 ? await due : await due.catch(() => [])
  }

  /** Never rejects. */
  async #deliver({ id, attempts, subscription, event }: DueDelivery): Promise<void> {
    const { webhooks, options, log } = this.#parts
    const end = (outcome: DeliveryOutcome): Promise<void> =>
      retry(() => webhooks.settle(id, outcome), {
        backoff: RECORDING.backoff,
        shouldRetry: (_, attempt) => attempt < RECORDING.attempts,
      }).catch((error: unknown) => log.error('a delivery could not be recorded', { delivery: id, error }))
    if (event === undefined) {
      const error = 'the event is no longer in the event log'
      return await end({ status: 0, answer: '', ms: 0, error, retryMs: null })
    }
    const { problem, retryAfterMs, ...ended } = await sendEvent(subscription, event, id, options)
    if (problem === '') return await end(ended)
    const retryMs = attempts >= MAX_ATTEMPTS ? null : retryWait(attempts, retryAfterMs)
    await end({ ...ended, error: problem.slice(0, 500), retryMs })
  }
}

/** What became of one request. */
export interface SentEvent {
  /** HTTP status of the answer; 0 if there was none. */
  readonly status: number
  /** The beginning of the answer. */
  readonly answer: string
  readonly ms: number
  readonly retryAfterMs: number | undefined
  /** Why the event did not arrive, or "". */
  readonly problem: string
}

/** Sends an event to a subscription: signed to a URL, or by mail. Never rejects. */
export const sendEvent = async (
  { url, format, secret, template, report }: Subscription,
  event: EventLogEntry,
  deliveryId: number,
  { publicUrl, mail, language, reportOn, ...options }: SendOptions,
): Promise<SentEvent> => {
  const begun = performance.now()
  const sent = (status: number, answer: string, problem: string, retryAfterMs?: number): SentEvent => ({
    status,
    answer,
    ms: Math.round(performance.now() - begun),
    retryAfterMs,
    problem,
  })
  const own = ownText(template, event, language)
  if (format === 'mail') {
    const to = mailAddresses(url) ?? []
    const id = `${event.event_id}.${deliveryId}`
    try {
      const attachment = report ? await reportOn(event) : undefined
      const message = { to, id, attachment, ...mailOf(event, publicUrl, own) }
      const { answer, problem } = await sendMail(message, mail)
      return sent(0, answer, problem)
    } catch (error) {
      return sent(0, '', `the report: ${errorText(error)}`)
    }
  }
  const body = bodyOf(event, format, publicUrl, own)
  const timestamp = String(Math.trunc(Date.now() / 1_000))
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Scanfarm',
    'X-Scanfarm-Event': event.topic.replaceAll(/[^\x20-\x7e]/g, '?'),
    'X-Scanfarm-Delivery': String(deliveryId),
    [TIMESTAMP_HEADER]: timestamp,
    [SIGNATURE_HEADER]: signatureOf(secret, timestamp, body),
  }
  try {
    const { status, text, retryAfterMs } = await postTo(new URL(url), body, headers, options)
    return sent(
      status,
      text,
      status < 200 || status > 299 ? `the endpoint answered ${status}` : '',
      retryAfterMs,
    )
  } catch (error) {
    return sent(0, '', errorText(error))
  }
}

/** Undefined: the usual text, also where the data of an event leave nothing of the template. */
const ownText = (
  template: string,
  event: EventLogEntry,
  language: SendOptions['language'],
): string | undefined => {
  try {
    const text = template === '' ? '' : language.text(template, triggerEvent(event, event.created_at))
    return text.trim() === '' ? undefined : text
  } catch {
    return undefined
  }
}

/** Why a template cannot be used, or "". */
export const templateProblem = (template: string, language: SendOptions['language']): string => {
  try {
    const event = exampleEvent()
    language.text(template, triggerEvent(event, event.created_at))
    return ''
  } catch (error) {
    return errorText(error)
  }
}

export const sendOptions = ({
  config: { webhooks, http, mail },
  receiver,
  store,
}: SendContext): SendOptions => ({
  allowPrivate: webhooks.allowPrivate,
  publicUrl: http.publicUrl,
  mail,
  language: receiver.planning.language,
  reportOn: async ({ data }) => {
    const { job_id: jobId, schedule, workflow } = dataOf(data)
    if (typeof jobId !== 'string') return undefined
    const names = [schedule, workflow, jobId].filter((one) => typeof one === 'string')
    const title = `Report of ${names.find((one) => one !== '') ?? jobId}`
    const facts = await store.reports.read(jobId)
    if (facts === undefined) return undefined
    const content = reportPage({ title, facts, madeAt: new Date().toISOString() })
    return { filename: `report-${jobId}.html`, content }
  },
})

interface SendContext {
  readonly config: Pick<Config, 'webhooks' | 'http' | 'mail'>
  readonly receiver: Pick<EventReceiver, 'planning'>
  readonly store: Store
}

export interface SendOptions {
  readonly allowPrivate: boolean
  readonly publicUrl: string
  readonly mail: MailSettings
  /** For the templates of messages. */
  readonly language: Pick<TriggerLanguage, 'text'>
  /** The report of the job that an event is about. */
  readonly reportOn: (event: EventLogEntry) => Promise<Message['attachment']>
  readonly signal?: AbortSignal
}

/**
 * Doubles with every attempt; the jitter spreads deliveries that failed together. An endpoint that asks for more time gets
 * it, up to the longest wait.
 */
const retryWait = (attempts: number, askedMs = 0): number => {
  const doubled = backoffMs(attempts, { firstMs: FIRST_RETRY_MS, mostMs: LONGEST_RETRY_MS })
  const wait = doubled * (0.75 + Math.random() / 2)
  return Math.trunc(Math.max(wait, Math.min(askedMs, LONGEST_RETRY_MS)))
}
