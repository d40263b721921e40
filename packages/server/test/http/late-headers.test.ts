import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import express from 'express'
import { listenHttp, type HttpService } from '../../src/http/listen.ts'

/** Longer than a busy machine takes from the accepted connection to its first bytes. */
const HEADERS_MS = 1_000

const serve = (): Promise<HttpService> => {
  const app = express()
  app.get('/', (_, response) => void response.send('here'))
  return listenHttp(app, { host: '127.0.0.1', port: 0, drainMs: 5_000, headersMs: HEADERS_MS })
}

const open = ({ url }: HttpService): Socket => connect(Number(new URL(url).port), '127.0.0.1')

/** Writes after the connection was accepted, and reads only when the time for headers is over. */
const answerAfterBusyTime = async (http: HttpService, request: string): Promise<string> => {
  const connection = open(http)
  await once(connection, 'connect')
  // Connections are accepted in their order.
  await fetch(http.url)
  connection.write(request)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * HEADERS_MS)
  return text(connection)
}

const ANSWERED = /^HTTP\/1\.1 200 OK\r\n[^]*here$/
const TIMED_OUT = /^HTTP\/1\.1 408 Request Timeout\r\n/

test('A first request that waited while the process was busy is answered', async () => {
  await using http = await serve()
  const request = 'GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'
  expect(await answerAfterBusyTime(http, request)).toMatch(ANSWERED)
})

test('A first request that arrives late has the whole time for its headers, and no more', async () => {
  await using http = await serve()
  expect(await answerAfterBusyTime(http, 'GET / HTTP/1.1\r\n')).toMatch(TIMED_OUT)
})

test('A connection that sends nothing is closed without an answer, one with part of a request with 408', async () => {
  await using http = await serve()
  const silent = open(http)
  const slow = open(http)
  slow.write('GET / HTTP/1.1\r\nHost: te')
  expect(await Promise.all([text(silent), text(slow)])).toEqual(['', expect.stringMatching(TIMED_OUT)])
})
