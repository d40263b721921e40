import { randomBytes } from 'node:crypto'
import { AppError, closed, IncomingWebhook } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { refuseDeepJson } from '../../http/body/json-depth.ts'
import { missing } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { newEvent } from '../../triggers/plan-event.ts'
import { refuseLargeData } from '../events/emit-event.ts'
import {
  REPLAY_WINDOW_MS,
  sameSignature,
  SIGNATURE_HEADER,
  signatureOf,
  TIMESTAMP_HEADER,
} from '../../webhooks/signature.ts'

const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' })
const SECRET_BYTES = 32
/** The sender is not authenticated before the body was read. */
const MAX_BYTES = 1 << 20

export const receiveWebhook = route(
  {
    endpoint: 'POST /webhooks/{name}',
    summary: 'Receive a signed request as the event webhook.received',
    description: `Requires a signature instead of a token: \`${SIGNATURE_HEADER}: sha256=HEX\`, the HMAC-SHA256 of \`TIMESTAMP.BODY\` with the secret of the webhook, and \`${TIMESTAMP_HEADER}\` in seconds, at most five minutes from the current time. A repeated request is refused.`,
    role: 'public',
    headers: { [SIGNATURE_HEADER]: 'sha256=HEX', [TIMESTAMP_HEADER]: 'Seconds since 1970' },
    responses: {
      202: Type.Object({ message: Type.String(), event_id: Type.String(), topic: Type.String() }),
    },
    errors: ['unauthorized', 'invalid_json', 'conflict', 'payload_too_large'],
  },
  async ({ store, notifier }, { params, http }) => {
    const timestamp = String(http.headers[TIMESTAMP_HEADER.toLowerCase()] ?? '')
    const given = String(http.headers[SIGNATURE_HEADER.toLowerCase()] ?? '')
    const age = Math.abs(Date.now() - Number(timestamp) * 1_000)
    if (!/^sha256=[0-9a-f]{64}$/i.test(given) || !/^\d{1,12}$/.test(timestamp) || age > REPLAY_WINDOW_MS)
      throw unfit()
    const body = await http.readBody(MAX_BYTES)
    const secret = await store.webhooks.incomingSecret(params.name)
    const wanted = signatureOf(secret ?? randomBytes(SECRET_BYTES).toString('hex'), timestamp, body)
    // Unknown names get the same answer as wrong signatures, so that names cannot be enumerated.
    if (!sameSignature(given, wanted)) throw unfit()
    const data = JSON.stringify(jsonOf(body))
    refuseLargeData(data)
    const topic = 'webhook.received'
    const event = newEvent({ topic, name: params.name, source: 'api', data_type: 'webhook', data })
    const request = { name: params.name, signature: wanted, forgetMs: 2 * REPLAY_WINDOW_MS, event }
    if (!(await store.webhooks.receive(request)))
      throw new AppError('conflict', 'this request was already received')
    notifier.notify()
    return { message: 'Webhook received', event_id: event.event_id, topic }
  },
)

const unfit = (): AppError =>
  new AppError(
    'unauthorized',
    `the signature is invalid: send ${TIMESTAMP_HEADER} in seconds and ${SIGNATURE_HEADER}: sha256=HMAC of "TIMESTAMP.BODY"`,
  )

/** An object unchanged, anything else as `{value: …}`. */
const jsonOf = (body: Buffer): object => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    refuseDeepJson(text)
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid_json', 'the body is not valid JSON', { cause })
  }
}

const Incoming = Type.Object({ ...IncomingWebhook.properties, path: Type.String() })

export const createIncomingWebhook = route(
  {
    endpoint: 'POST /incoming-webhooks',
    summary: 'Create an incoming webhook',
    description: 'The secret is returned only in this answer.',
    role: 'admin',
    body: closed({ name: Name, secret: Type.Optional(Type.String({ minLength: 16, maxLength: 256 })) }),
    responses: {
      201: Type.Object({
        message: Type.String(),
        name: Type.String(),
        path: Type.String(),
        secret: Type.String(),
      }),
    },
    errors: ['conflict'],
  },
  async ({ store }, { body, http }) => {
    const secret = body.secret ?? randomBytes(SECRET_BYTES).toString('hex')
    if (!(await store.webhooks.addIncoming(body.name, secret)))
      throw new AppError('conflict', `a webhook named ${body.name} already exists`)
    return { message: 'Webhook created', name: body.name, path: `${http.root}/webhooks/${body.name}`, secret }
  },
)

export const listIncomingWebhooks = route(
  {
    endpoint: 'GET /incoming-webhooks',
    summary: 'List the incoming webhooks',
    role: 'admin',
    responses: { 200: Type.Object({ data: Type.Array(Incoming) }) },
  },
  async ({ store }, { http }) => ({
    data: (await store.webhooks.incoming()).map((one) => ({
      ...one,
      path: `${http.root}/webhooks/${one.name}`,
    })),
  }),
)

export const removeIncomingWebhook = route(
  {
    endpoint: 'DELETE /incoming-webhooks/{name}',
    summary: 'Delete an incoming webhook',
    role: 'admin',
    responses: { 200: Type.Object({ message: Type.String(), name: Type.String() }) },
  },
  async ({ store }, { params }) => {
    if (!(await store.webhooks.removeIncoming(params.name))) throw missing('webhook', params.name)
    return { message: 'Webhook removed', name: params.name }
  },
)
