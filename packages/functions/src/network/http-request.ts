import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@scanfarm/language'

export interface HttpAnswer {
  /** 0 if there was no response. */
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Record<string, string>
  readonly body: string
  readonly timeMs: number
  /** Why there is no response, or `""`. */
  readonly error: string
}

/** Maximum number of bytes of a body that are read; the rest is ignored. */
const MAX_BODY = 10 << 20
const TRIES = 3
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 2000

const readBody = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    if (!(chunk instanceof Uint8Array)) continue
    chunks.push(chunk)
    size += chunk.byteLength
    if (size >= MAX_BODY) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY).toString('utf8')
}

const causeOf = (error: unknown): string => {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`
}

export interface HttpQuestion {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string
  /** Per attempt. */
  readonly timeoutMs: number
}

/** Sends a request and retries after a pause on network and server errors. Never rejects. */
export const httpRequest = async (
  { url, method, headers, body, timeoutMs }: HttpQuestion,
  { signal, now }: { signal: AbortSignal; now: () => number },
): Promise<HttpAnswer> => {
  const from = now()
  let answer: HttpAnswer = {
    status: 0,
    headers: {},
    body: '',
    timeMs: 0,
    error: 'not a URL of http or https',
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return answer
  for (let attempt = 1; attempt <= TRIES && !signal.aborted; attempt++) {
    if (attempt > 1) {
      const wait = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 2))
      await pause(wait, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
    }
    try {
      const response = await fetch(url, {
        method,
        headers,
        ...(body === '' || method === 'GET' || method === 'HEAD' ? {} : { body }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      answer = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await readBody(response),
        timeMs: Math.round(now() - from),
        error: '',
      }
      if (response.status < 500) return answer
    } catch (error) {
      answer = { status: 0, headers: {}, body: '', timeMs: Math.round(now() - from), error: causeOf(error) }
    }
  }
  return answer
}
