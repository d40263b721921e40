import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import express from 'express'
import { listenHttp } from '../../src/http/listen.ts'

const HEADERS_MS = 200

const serve = async () => {
  const app = express()
  app.get('/', (_, response) => void response.send('here'))
  const http = await listenHttp(app, {
    host: '127.0.0.1',
    port: 0,
    drainMs: 5_000,
    headersMs: HEADERS_MS,
  })
  return { http, open: () => connect(Number(new URL(http.url).port), '127.0.0.1') }
}

/** Nothing is read or written meanwhile. */
const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('A first request that waited while the process was busy is answered', async () => {
  const { http, open } = await serve()
  await using _ = http
  // The connection was accepted before the answer of a later one.
  const unused = open()
  await once(unused, 'connect')
  await fetch(http.url)
  unused.write('GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n')
  block(3 * HEADERS_MS)
  expect(await text(unused)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*here$/)
})

test('A connection that sends nothing is closed without an answer, one with part of a request with 408', async () => {
  const { http, open } = await serve()
  await using _ = http
  const silent = open()
  const slow = open()
  slow.write('GET / HTTP/1.1\r\nHost: te')
  expect(await Promise.all([text(silent), text(slow)])).toEqual([
    '',
    expect.stringMatching(/^HTTP\/1\.1 408 Request Timeout\r\n/),
  ])
})

test('A first request that arrives late has the whole time for its headers, and no more', async () => {
  const { http, open } = await serve()
  await using _ = http
  const late = open()
  await once(late, 'connect')
  await fetch(http.url)
  late.write('GET / HTTP/1.1\r\n')
  block(3 * HEADERS_MS)
  expect(await text(late)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
})
