import { execFile } from 'node:child_process'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { freePort, listen } from '@scanfarm/testing'
import { Api } from '../src/client/api.ts'

const listening = async (listener: RequestListener) => {
  const server = createServer(listener)
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const CLIENT = new URL('../src/client/', import.meta.url).href
const UPLOAD = `
  const [, url, file] = process.argv
  const { Api } = await import('${CLIENT}api.ts')
  const { readBlob } = await import('${CLIENT}files.ts')
  // What is held of the file. The resident memory would also count modules and garbage: up to 20 MB on a busy machine.
  let most = 0
  setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 5).unref()
  const answer = await new Api({ url, token: 'x' }).upload('/upload-file', 'big', await readBlob(file))
  console.log(JSON.stringify({ ...answer, mb: most / 1_000_000 }))
`

test('A large file is uploaded without being held in memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'upload-'))
  try {
    const file = join(folder, 'big')
    await writeFile(file, '')
    await truncate(file, 300_000_000)
    using server = await listening((request, response) => {
      let bytes = 0
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        request.pause()
        setImmediate(() => request.resume())
      })
      request.on('end', () => {
        const whole = bytes === Number(request.headers['content-length'])
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ bytes, whole }))
      })
    })
    const { stdout } = await promisify(execFile)(process.execPath, [
      // As the program is started.
      '--max-semi-space-size=4',
      '--input-type=module',
      '--eval',
      UPLOAD,
      server.url,
      file,
    ])
    const { bytes, whole, mb } = JSON.parse(stdout) as { bytes: number; whole: boolean; mb: number }
    expect(bytes).toBeGreaterThan(300_000_000)
    expect(whole).toBe(true)
    expect(mb).toBeGreaterThan(0)
    expect(mb).toBeLessThan(4)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('The answer of a server that refuses an upload before it has read it is reported', async () => {
  using server = await listening((_, response) => {
    const body = JSON.stringify({ error: { code: 'payload_too_large', message: 'the file is too large' } })
    response.writeHead(413, { 'Content-Type': 'application/json' }).end(body)
  })
  const api = new Api({ url: server.url, token: 'x' })
  const sent = api.upload('/upload-file', 'a "b".txt', new Blob([new Uint8Array(20_000_000)]))
  await expect(sent).rejects.toThrow(/413/)
})

test('An upload follows a redirect with its content, and another server does not get the token', async () => {
  const seen: string[] = []
  const serve =
    (name: string, target = () => ''): RequestListener =>
    (request, response) => {
      const body: Buffer[] = []
      request.on('data', (chunk: Buffer) => body.push(chunk))
      request.on('end', () => {
        const token = request.headers.authorization === undefined ? 'no token' : 'token'
        const content = Buffer.concat(body).includes('the content') ? 'content' : 'nothing'
        seen.push(`${name}${request.url ?? ''} ${token} ${content}`)
        if (request.url === '/api/upload-file') response.writeHead(307, { Location: '/api/moved' }).end()
        else if (request.url === '/api/moved') response.writeHead(308, { Location: target() }).end()
        else response.setHeader('Content-Type', 'application/json').end('{"ok":true}')
      })
    }
  using other = await listening(serve('b'))
  using server = await listening(serve('a', () => `${other.url}/api/there`))
  const api = new Api({ url: server.url, token: 'x' })
  expect(await api.upload('/upload-file', 'a', new Blob(['the content']))).toEqual({ ok: true })
  expect(seen).toEqual([
    'a/api/upload-file token content',
    'a/api/moved token content',
    'b/api/there no token content',
  ])
})

test('A redirect without an end is reported', async () => {
  using server = await listening((_, response) => response.writeHead(307, { Location: '/api/x' }).end())
  const sent = new Api({ url: server.url, token: 'x' }).upload('/upload-file', 'a', new Blob(['a']))
  await expect(sent).rejects.toThrow(/307/)
})

test('An upload to a server that is not there says so', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const sent = new Api({ url, token: 'x' }).upload('/upload-file', 'a', new Blob(['a']))
  await expect(sent).rejects.toThrow(/no server answers at/)
})
