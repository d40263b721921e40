import { createHmac, timingSafeEqual } from 'node:crypto'

/** For incoming and outgoing webhooks: HMAC-SHA256 over `TIMESTAMP.BODY`, in seconds, as `sha256=HEX`. */
export const SIGNATURE_HEADER = 'X-Scanfarm-Signature'
export const TIMESTAMP_HEADER = 'X-Scanfarm-Timestamp'
/** Requests with a larger clock difference are refused. */
export const REPLAY_WINDOW_MS = 300_000

export const signatureOf = (secret: string, timestamp: string, body: Uint8Array | string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`

/** In constant time. */
export const sameSignature = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given.toLowerCase()), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
