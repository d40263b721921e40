import { randomBytes } from 'node:crypto'
import {
  AppError,
  closed,
  Delivery,
  DeliveryStatus,
  Warnings,
  WebhookSubscription,
  wrapped,
  type FieldError,
} from '@scanfarm/contracts'
import { MAX_SUBSCRIPTIONS, type Subscription, type SubscriptionDraft } from '@scanfarm/store'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { found, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { exampleEvent } from '../../webhooks/example-event.ts'
import { mailAddresses } from '../../webhooks/send-mail.ts'
import { sendEvent, sendOptions, templateProblem } from '../../webhooks/webhook-sender.ts'
import { topicProblem } from '../../triggers/topics.ts'
import { idOf, NamedPath, nameWarnings, warned } from '../named.ts'
import { pages } from '../../http/paging.ts'
import { rowId } from '../query.ts'

const Secret = Type.String({ minLength: 16, maxLength: 256 })
const SECRET_BYTES = 32

const { format, min_severity } = WebhookSubscription.properties
const fields = {
  name: Type.String({ minLength: 1, maxLength: 256 }),
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'http or https; with the format mail: mailto:a@example.com,b@example.com',
  }),
  topics: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    minItems: 1,
    maxItems: 64,
    description: 'Topics or shell globs',
  }),
}
const options = {
  filters: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 16 })),
  format: Type.Optional(format),
  min_severity: Type.Optional(min_severity),
  template: Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        'Replaces the text of a message, for example "{{event_data.schedule}} ended"; the first line is the subject of a mail. Not for the format json',
    }),
  ),
  report: Type.Optional(
    Type.Boolean({
      description: 'Attach the report of the job to mails about job.ended and schedule.ended',
    }),
  ),
  secret: Type.Optional(Secret),
  enabled: Type.Optional(Type.Boolean()),
}
const CreateSubscription = closed({ ...fields, ...options })
const ChangeSubscription = closed(
  {
    name: Type.Optional(fields.name),
    url: Type.Optional(fields.url),
    topics: Type.Optional(fields.topics),
    ...options,
  },
  { minProperties: 1 },
)

const Changed = Type.Object({
  message: Type.String(),
  data: WebhookSubscription,
  warnings: Type.Optional(Warnings),
})

const shown = ({ secret: _, since: __, ...one }: Subscription): WebhookSubscription => one

const knownOf = async (context: ServerContext, name: string): Promise<Subscription> => {
  const id = Number(await idOf(context, 'subscription', name))
  return found('subscription', name, await context.store.webhooks.subscription(id))
}

const checked = (draft: SubscriptionDraft, { receiver }: ServerContext): SubscriptionDraft => {
  const problems: FieldError[] = []
  const url = URL.parse(draft.url)
  if (draft.format === 'mail') {
    if (mailAddresses(draft.url) === undefined)
      problems.push({
        path: '/url',
        message: 'must be like mailto:a@example.com,b@example.com for the format mail',
      })
  } else if (url === null || !['http:', 'https:'].includes(url.protocol))
    problems.push({ path: '/url', message: 'must be an http or https URL' })
  else if (url.username !== '' || url.password !== '')
    problems.push({ path: '/url', message: 'must not contain a password: requests are signed instead' })
  for (const [index, topic] of draft.topics.entries()) {
    const message = topicProblem(topic)
    if (message !== undefined) problems.push({ path: `/topics/${index}`, message })
  }
  if (draft.template !== '') {
    const message =
      draft.format === 'json'
        ? 'the format json has no text'
        : templateProblem(draft.template, receiver.planning.language)
    if (message !== '') problems.push({ path: '/template', message })
  }
  if (draft.report && draft.format !== 'mail')
    problems.push({ path: '/report', message: 'only messages of the format mail have attachments' })
  refuse(problems)
  return draft
}

const DEFAULTS = {
  filters: [],
  format: 'json',
  min_severity: '',
  template: '',
  report: false,
  enabled: true,
} as const

export const createSubscription = route(
  {
    endpoint: 'POST /webhook-subscriptions',
    summary: 'Subscribe a URL to events',
    description:
      'Requests are signed like incoming ones. Private addresses are refused when a request is sent, unless the settings allow them. The secret is returned only in this answer.',
    role: 'admin',
    body: CreateSubscription,
    responses: { 201: Type.Object({ ...Changed.properties, secret: Type.String() }) },
    errors: ['conflict'],
  },
  async (context, { body }) => {
    const { store } = context
    const secret = body.secret ?? randomBytes(SECRET_BYTES).toString('hex')
    const made = await store.webhooks.subscribe(checked({ ...DEFAULTS, ...body, secret }, context))
    if (made === undefined)
      throw new AppError('conflict', `there are already ${MAX_SUBSCRIPTIONS} subscriptions: delete one first`)
    const warnings = await nameWarnings(context, 'subscription', body.name)
    return { message: 'Subscription created', data: shown(made), secret, ...warned(warnings) }
  },
)

export const listSubscriptions = route(
  {
    endpoint: 'GET /webhook-subscriptions',
    summary: 'List the subscriptions',
    role: 'admin',
    responses: { 200: Type.Object({ data: Type.Array(WebhookSubscription) }) },
  },
  async ({ store }) => ({ data: (await store.webhooks.subscriptions()).map(shown) }),
)

export const changeSubscription = route(
  {
    endpoint: 'PATCH /webhook-subscriptions/{id}',
    summary: 'Change a subscription',
    role: 'admin',
    params: NamedPath,
    body: ChangeSubscription,
    responses: { 200: Changed },
    errors: ['conflict'],
  },
  async (context, { params, body }) => {
    const known = await knownOf(context, params.id)
    const draft = checked({ ...known, ...body }, context)
    const data = await context.store.webhooks.changeSubscription(known.id, draft)
    const warnings = await nameWarnings(context, 'subscription', body.name)
    return {
      message: 'Subscription changed',
      data: shown(found('subscription', params.id, data)),
      ...warned(warnings),
    }
  },
)

export const removeSubscription = route(
  {
    endpoint: 'DELETE /webhook-subscriptions/{id}',
    summary: 'Delete a subscription and its deliveries',
    role: 'admin',
    params: NamedPath,
    responses: { 200: Type.Object({ message: Type.String(), id: Type.Integer() }) },
    errors: ['conflict'],
  },
  async (context, { params }) => {
    const id = Number(await idOf(context, 'subscription', params.id))
    await context.store.webhooks.unsubscribe(id)
    return { message: 'Subscription removed', id }
  },
)

export const testSubscription = route(
  {
    endpoint: 'POST /webhook-subscriptions/{id}/test',
    summary: 'Send an example of the event job.ended to a subscription, also a disabled one',
    description: 'The request is sent once, whatever the topics and filters. Nothing is recorded.',
    role: 'admin',
    params: NamedPath,
    responses: {
      200: Type.Object({
        delivered: Type.Boolean(),
        status: Type.Integer({ description: 'HTTP status of the answer; 0 if there was none' }),
        answer: Type.String({ description: 'The first 1,024 bytes of the answer' }),
        ms: Type.Integer({ minimum: 0, description: 'Milliseconds until the answer' }),
        problem: Type.String({ description: 'Why it did not arrive, or ""' }),
      }),
    },
    errors: ['conflict'],
  },
  async (context, { params, http }) => {
    const known = await knownOf(context, params.id)
    const options = { ...sendOptions(context), signal: http.signal() }
    const { status, answer, ms, problem } = await sendEvent(known, exampleEvent(), 0, options)
    return { delivered: problem === '', status, answer, ms, problem }
  },
)

export const listDeliveries = route(
  {
    endpoint: 'GET /webhook-deliveries',
    summary: 'List deliveries, newest first; failed ones have the status dead',
    role: 'admin',
    ...pages(Delivery, {
      status: Type.Optional(DeliveryStatus),
      subscription_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    }),
  },
  ({ store }, { query: { status, subscription_id: subscriptionId }, page }) =>
    store.webhooks.deliveries({ status, subscriptionId }, page),
)

export const redeliver = route(
  {
    endpoint: 'POST /webhook-deliveries/{id}/redeliver',
    summary: 'Send a delivery again',
    role: 'admin',
    responses: { 202: wrapped(Delivery) },
  },
  async ({ store, notifier }, { params }) => {
    const data = found('delivery', params.id, await store.webhooks.redeliver(rowId(params.id)))
    notifier.notify()
    return { data }
  },
)
