import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Json } from '@scanfarm/language'
import { answeringHosts } from './answering.ts'
import { sending, isObject, type FunctionContext, type FunctionGroup } from '../define.ts'
import { parseObject } from '../text/jsonl.ts'
import { httpRequest, type HttpAnswer } from './http-request.ts'

const TIMEOUT_MS = 30_000

/** Each header as `Content-Type` and as `content-type`. */
const bothSpellings = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  const canonical = (name: string) => name.replaceAll(/(^|-)([a-z])/g, (letter) => letter.toUpperCase())
  return {
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [canonical(name), value])),
    ...headers,
  }
}

/** Why the request failed, or null. */
const problemOf = ({ error, status }: HttpAnswer): string | null =>
  error || (status >= 500 ? `server error: ${status}` : null)

/** A response in the format of the functions and the http step. */
export const answerJson = (answer: HttpAnswer, failure = 'error'): { [key: string]: Json } => ({
  status_code: answer.status,
  error: problemOf(answer),
  message: problemOf(answer) === null ? 'success' : failure,
  response_headers: bothSpellings(answer.headers),
  response_body: answer.body,
  content_length: Buffer.byteLength(answer.body),
  response_time_ms: answer.timeMs,
})

const parsedHeaders = (value: Json | undefined): Record<string, string> => {
  let headers = value
  if (typeof value === 'string' && value.trim() !== '') headers = parseObject(value) ?? null
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
  { signal, ports, services }: FunctionContext,
): Promise<{ [key: string]: Json }> =>
  answerJson(
    await httpRequest(
      { url, method, headers, body, timeoutMs: TIMEOUT_MS },
      {
        signal,
        now: () => ports.monotonic(),
        allowPrivate: services.http?.allowPrivate,
        permit: services.permit,
      },
    ),
  )

/** `http_request` also returns short names, and its `error` is a text that may be empty. */
const withShortNames = (answer: { [key: string]: Json }): Json => ({
  ...answer,
  statusCode: answer['status_code'] ?? 0,
  body: answer['response_body'] ?? '',
  headers: answer['response_headers'] ?? {},
  error: answer['error'] ?? '',
})

const hostOf = (text: string): string => {
  if (URL.canParse(text) && text.includes('://')) return new URL(text).hostname.replaceAll(/^\[|\]$/g, '')
  const host = text.trim()
  return isIP(host) === 0 ? host.replace(/(?<=.)[:/].*$/s, '') : host
}

export const NETWORK_FUNCTIONS: FunctionGroup = {
  title: 'Network',
  functions: [
    sending(
      'http_request(url, method, headers?, body?): object',
      'statusCode, body, headers, error ("" after success), and the fields of `http_get`.',
      async (at) =>
        withShortNames(
          await ask(
            at.text(0),
            (at.text(1) || 'GET').toUpperCase(),
            parsedHeaders(at.args[2]),
            at.text(3),
            at,
          ),
        ),
    ),
    sending(
      'http_get(url): object',
      'status_code, error (null after success), message (success or error), response_headers, response_body, content_length, response_time_ms.',
      (at) => ask(at.text(0), 'GET', {}, '', at),
    ),
    sending(
      'http_post(url, body): object',
      'The same for a POST of JSON; `http_request` sends other types.',
      async (at) => {
        const body = at.text(1)
        const headers: Record<string, string> = body === '' ? {} : { 'content-type': 'application/json' }
        return await ask(at.text(0), 'POST', headers, body, at)
      },
    ),
    sending(
      'get_ip(host): text',
      'An address of a host name or URL, of IPv4 where there is one, or "".',
      async (at) => {
        const host = hostOf(at.text(0))
        if (isIP(host) !== 0 || host === '') return host
        return await lookup(host, { order: 'ipv4first' }).then(
          ({ address }) => address,
          () => '',
        )
      },
    ),
    sending(
      'answering_hosts(source, dest): number',
      'Writes the lines (URLs, host:port or hosts) whose host accepts or refuses a TCP connection within three seconds: to the port given, to that of the scheme, or to 443 or 80. Returns the number. It connects from the executor, whatever runner the module has.',
      (at) => answeringHosts(at.path(0), at.path(1), at),
    ),
  ],
}
