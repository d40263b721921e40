import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Json } from '../model.ts'
import { fn, isObject, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import { httpRequest, type HttpAnswer } from './http-request.ts'

const TIMEOUT_MS = 30_000

/** As functions and the http step show an answer. */
export const answerJson = (answer: HttpAnswer): { [key: string]: Json } => ({
  status_code: answer.status,
  error: answer.error !== '',
  message: answer.error,
  response_headers: answer.headers,
  response_body: answer.body,
  content_length: Buffer.byteLength(answer.body),
  response_time_ms: answer.timeMs,
})

const parsedHeaders = (value: Json | undefined): Record<string, string> => {
  let headers = value
  if (typeof value === 'string' && value.trim() !== '') headers = JSON.parse(value) as Json
  if (!isObject(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [
      name,
      typeof text === 'string' ? text : JSON.stringify(text),
    ]),
  )
}

const ask = async (
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string,
  { signal, ports }: FunctionContext,
): Promise<Json> =>
  answerJson(
    await httpRequest(
      { url, method, headers, body, timeoutMs: TIMEOUT_MS },
      { signal, now: () => ports.monotonic() },
    ),
  )

const hostOf = (text: string): string => {
  if (URL.canParse(text) && text.includes('://')) return new URL(text).hostname.replaceAll(/^\[|\]$/g, '')
  return text.replace(/:\d+$/, '')
}

export const NETWORK_FUNCTIONS: FunctionGroup = {
  title: 'Network',
  functions: [
    fn(
      'http_request(url, method, headers?, body?)',
      'object',
      'status_code, error, message, response_headers, response_body, content_length, response_time_ms.',
      async (args, at) =>
        await ask(
          textArg(args, 0),
          textArg(args, 1, 'GET').toUpperCase(),
          parsedHeaders(args[2]),
          textArg(args, 3),
          at,
        ),
    ),
    fn(
      'http_get(url)',
      'object',
      'The same for a GET.',
      async (args, at) => await ask(textArg(args, 0), 'GET', {}, '', at),
    ),
    fn(
      'http_post(url, body)',
      'object',
      'The same for a POST; a body that is JSON is sent as such.',
      async (args, at) => {
        const body = textArg(args, 1)
        const type = /^\s*[[{]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded'
        return await ask(textArg(args, 0), 'POST', { 'content-type': type }, body, at)
      },
    ),
    fn('get_ip(host)', 'text', 'The first address of a host name or URL, or "".', async (args) => {
      const host = hostOf(textArg(args, 0))
      if (isIP(host) !== 0) return host
      return await lookup(host).then(
        ({ address }) => address,
        () => '',
      )
    }),
  ],
}
