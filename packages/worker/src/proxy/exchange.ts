import { request, type Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import { type LookupFunction, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

export const MAX_HEADER_BYTES = 1024 * 1024
const HOP_HEADERS = new Set(['proxy-connection', 'proxy-authorization'])
/** Those that have no body unless they say so. */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

const headersOf = ({ rawHeaders }: IncomingMessage): string[] =>
  rawHeaders.filter((_, index) => !HOP_HEADERS.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ''))

const saysLength = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Answers with checked addresses, in place of name servers. */
const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )

/** Where to connect to. */
interface Destination {
  readonly host: string
  readonly port: number
  readonly lookup: LookupFunction
}

export const destinationOf = (url: URL, addresses: readonly string[], defaultPort: number): Destination => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: url.port === '' ? defaultPort : Number(url.port),
  lookup: lookupOf(addresses),
})

interface Exchange {
  readonly incoming: IncomingMessage
  readonly answer: ServerResponse
  readonly path: string
  readonly destination: Destination
  /** `fresh` has a new connection for each request. */
  readonly agents: { readonly kept: Agent; readonly fresh: Agent }
  onSocket(socket: Socket): void
}

/** Passes a request and its answer on as they are. If the server does not answer, the connection of the tool is reset. */
export const exchange = ({ incoming, answer, path, destination, agents, onSocket }: Exchange): void => {
  const { socket, method = 'GET' } = incoming
  const withBody = saysLength(incoming)
  const headers = headersOf(incoming)
  if (!withBody && !BODILESS.has(method)) headers.push('Content-Length', '0')
  const send = (agent: Agent): void => {
    const upstream = request({
      ...destination,
      method,
      path,
      headers,
      agent,
      insecureHTTPParser: true,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    let isAnswered = false
    upstream.on('socket', onSocket)
    upstream.on('response', (response) => {
      isAnswered = true
      answer.sendDate = false
      // Without a length the answer ends with its connection.
      if (!saysLength(response)) answer.useChunkedEncodingByDefault = false
      answer.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders)
      pipeline(response, answer, () => undefined)
    })
    upstream.on('error', () => {
      // The server has closed a connection that was kept. The tool would have opened another one.
      if (!isAnswered && upstream.reusedSocket && !socket.destroyed) send(agents.fresh)
      else socket.resetAndDestroy()
    })
    answer.once('close', () => upstream.destroy())
    if (withBody) incoming.pipe(upstream)
    else upstream.end()
  }
  send(withBody ? agents.fresh : agents.kept)
}
