import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createNotifyService } from '../src/notify/service.ts'

let server: Server
let base = ''
const seen: { url: string; body: string; token: string }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push({
        url: request.url ?? '',
        body: Buffer.concat(chunks).toString(),
        token: String(request.headers['x-token'] ?? ''),
      })
      response.statusCode = request.url?.includes('bad') === true ? 403 : 200
      response.end(request.url)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
})

test('sends messages, files and events to the channels of the settings', async () => {
  const notify = createNotifyService({
    telegram: [
      { name: '', token: '1:secret', chatId: '42' },
      { name: 'red', token: '2:bad', chatId: '43' },
    ],
    webhooks: [{ url: `${base}/hook`, headers: { 'x-token': 't' } }],
    telegramUrl: base,
  })
  const file = join(tmpdir(), `notify-${process.pid}.txt`)
  writeFileSync(file, 'content of the file')
  await notify?.send({ kind: 'telegram', channel: '', text: 'hello' })
  await notify?.send({ kind: 'telegram', channel: '', text: 'look', file: { name: 'look.txt', path: file } })
  await notify?.send({ kind: 'webhook', channel: '', text: 'x', event: { type: 'vuln', data: { a: 1 } } })
  expect(seen[0]).toMatchObject({ url: '/bot1:secret/sendMessage', body: '{"chat_id":"42","text":"hello"}' })
  expect(seen[1]?.body).toContain('content of the file')
  expect(seen[1]?.body).toContain('filename="look.txt"')
  expect(seen[2]).toMatchObject({ url: '/hook', token: 't', body: '{"event":"vuln","data":{"a":1}}' })
  await expect(notify?.send({ kind: 'telegram', channel: 'red', text: 'x' })).rejects.toThrow(
    'the message was refused with 403: /bot***/sendMessage',
  )
  await expect(notify?.send({ kind: 'telegram', channel: 'blue', text: 'x' })).rejects.toThrow(
    'no telegram channel "blue"',
  )
})

test('creates no service without a channel', () => {
  expect(createNotifyService({ telegram: [], webhooks: [] })).toBeUndefined()
})
