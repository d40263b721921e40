import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { readJson } from '../../src/http/body/json-body.ts'
import { testServer } from '../_server.ts'

const KIB = 1024
const MIB = 1024 * KIB

const server = forAllTests(() => testServer())

/** Calls `each` once for every turn of the event loop until the promise settles. */
async function everyTurn<T>(promise: Promise<T>, each: () => void): Promise<T> {
  let ended = false
  const turn = (): void => {
    each()
    if (!ended) setImmediate(turn)
  }
  setImmediate(turn)
  return await promise.finally(() => (ended = true))
}

test('a refused body is read in small parts, so that other connections are served between them', async () => {
  const sockets: Socket[] = []
  const accepted = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
  subscribe('http.server.request.start', accepted)
  const { hostname, port } = new URL(server.url)
  const client = connect(Number(port), hostname)
  client.on('error', () => undefined).resume()
  const closed = new Promise((resolve) => client.once('close', resolve))
  const length = 4 * MIB
  const head = `POST /api/runs HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${length}\r\n\r\n`
  client.write(Buffer.concat([Buffer.from(head), Buffer.alloc(length, ' ')]))
  client.end()
  let before = 0
  let most = 0
  await everyTurn(closed, () => {
    const { bytesRead = 0 } = sockets[0] ?? {}
    most = Math.max(most, bytesRead - before)
    before = bytesRead
  })
  unsubscribe('http.server.request.start', accepted)
  expect(before).toBeGreaterThan(length)
  expect(most).toBeLessThanOrEqual(512 * KIB)
})

test('other requests are served between the steps of reading a body of many values', async () => {
  const turnsOf = async (values: number): Promise<number> => {
    const body = JSON.stringify(Array.from({ length: values }, (_, value) => value))
    const request = new IncomingMessage(new Socket())
    request.headers['content-type'] = 'application/json'
    request.push(body)
    request.push(null)
    let turns = 0
    const read = await everyTurn(readJson(request, MIB), () => (turns += request.readableEnded ? 1 : 0))
    expect(read).toHaveLength(values)
    return turns
  }
  expect(await turnsOf(50_000)).toBeGreaterThanOrEqual((await turnsOf(10)) + 3)
})
