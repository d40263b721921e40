import { asText, at, isRecord } from '../../fields.ts'
import { textWord } from '../fingerprints.ts'

/** The request of a result, and its response, as tools that test web applications report them. */
export interface WebExchange {
  /** The address, or `""`. */
  readonly url: string
  /** Tells results apart: the method, and the address with the names of its parameters, whose values are attempts. */
  readonly word: string
  readonly request: string
  readonly response: string
}

export const webExchange = (request: unknown, response: unknown): WebExchange => {
  const method = asText(at(request, 'method'))
  const target = asText(at(request, 'target'))
  const url = absolute(target, request)
  const status = ['statusCode', 'reasonPhrase'].map((name) => asText(at(response, name)))
  return {
    url,
    word: url === '' ? '' : ['request', method, textWord(withoutValues(url))].filter(Boolean).join(' '),
    request: textOf(request, [method, target]),
    response: textOf(response, status),
  }
}

/** A target like `/login` is at the server that the header `Host` names. */
const absolute = (target: string, request: unknown): string => {
  if (/^https?:/i.test(target)) return target
  const headers = at(request, 'headers')
  const [, host] =
    Object.entries(isRecord(headers) ? headers : {}).find(([name]) => /^host$/i.test(name)) ?? []
  const scheme = /^https/i.test(asText(at(request, 'protocol'))) ? 'https' : 'http'
  return target.startsWith('/') && asText(host) !== '' ? `${scheme}://${asText(host)}${target}` : ''
}

const withoutValues = (url: string): string => {
  const [address = '', query = ''] = url.split('#')[0]?.split(/\?(.*)/s) ?? []
  const names = query.split('&').map((pair) => pair.split('=')[0] ?? '')
  return `${address}?${[...new Set(names)].toSorted().join('&')}`
}

/** As it is sent: the first line, the headers and the body. */
const textOf = (message: unknown, first: readonly string[]): string => {
  if (!isRecord(message)) return ''
  const protocol = [asText(message['protocol']), asText(message['version'])].filter(Boolean).join('/')
  const headers = at(message, 'headers')
  const line = ('statusCode' in message ? [protocol, ...first] : [...first, protocol])
    .filter(Boolean)
    .join(' ')
  const lines = Object.entries(isRecord(headers) ? headers : {}).map(
    ([name, value]) => `${name}: ${asText(value)}`,
  )
  return [line, ...lines, '', asText(at(message, 'body', 'text'))].join('\r\n')
}
