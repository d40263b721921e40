/**
 * A minimal HTTP server in Node. Prints its port.
 *
 *   bare-server.ts bytes COUNT          the same body of COUNT bytes for every request
 *   bare-server.ts rows  URL STATEMENT  the rows of a prepared statement, executed for every request
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

const CONNECTIONS = 10

const send = (response: ServerResponse, body: string): void => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const sameBytes = (count: number): ((response: ServerResponse) => void) => {
  const body = JSON.stringify({ data: 'x'.repeat(Math.max(0, count - '{"data":""}'.length)) })
  return (response) => send(response, body)
}

const rowsOf = (url: string, text: string): ((response: ServerResponse) => Promise<void>) => {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  return async (response) => {
    const { rows } = await pool.query({ name: 'bare', text })
    send(response, JSON.stringify({ data: rows }))
  }
}

const [kind, first = '', second = ''] = process.argv.slice(2)
const answer = kind === 'rows' ? rowsOf(first, second) : sameBytes(Number(first))
const server = createServer((_request, response) => void answer(response))
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
