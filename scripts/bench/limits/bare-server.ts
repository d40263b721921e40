/**
 * The least that can answer HTTP with Node: one body for every request. Prints its port.
 *
 *   bare-server.ts BODY_BYTES
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = JSON.stringify({ data: 'x'.repeat(Math.max(0, Number(process.argv[2]) - '{"data":""}'.length)) })
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
