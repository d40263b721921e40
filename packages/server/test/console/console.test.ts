import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import request, { type Agent } from 'supertest'
import { testServer, type TestServer } from '../_server.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const INDEX = '<!doctype html><title>Scanfarm</title><script type="module" src="/assets/app-1.js"></script>'
const FILES = {
  'index.html': INDEX,
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/app-1.js': 'plain',
  'assets/app-1.js.br': 'brotli',
  'assets/app-1.js.gz': 'gzipped',
}

const write = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
}

const folders: string[] = []
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-console-'))
  folders.push(folder)
  return folder
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

describe('an installation with a built console', () => {
  let server: TestServer
  let http: Agent
  beforeAll(async () => {
    const root = await newFolder()
    await write(join(root, '.cache/console/built'), FILES)
    await write(root, { '.cache/console/current': 'built\n', 'secret.json': '{}' })
    server = await testServer({ consoleRoot: root })
    http = request.agent(server.url)
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
  })

  test.each([
    '/',
    '/runs/17',
    '/assets',
    '/assets/12',
    '/login',
    '/webhooks/x',
    '/jobs/a%2fb',
    '/files/report.html',
  ])('shows the console at %s, with a strict policy', async (path) => {
    const { text, headers } = await http.get(path).set(HTML).expect(200)
    expect(text).toBe(INDEX)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    })
    const { headers: head } = await http.head(path).set(HTML).expect(200)
    expect(head['content-length']).toBe(String(INDEX.length))
  })

  test('answers 304 while the page has not changed', async () => {
    const { headers } = await http.get('/').expect(200)
    await http
      .get('/runs')
      .set({ ...HTML, 'If-None-Match': String(headers['etag']) })
      .expect(304)
    await http.get('/').set('If-None-Match', 'W/"other"').expect(200)
  })

  test.each([
    ['br, gzip', 'br', 'brotli'],
    ['gzip, deflate', 'gzip', 'gzipped'],
    ['br;q=0, gzip;q=0.5', 'gzip', 'gzipped'],
    ['identity', undefined, 'plain'],
  ])('sends assets in the form that %j accepts, forever', async (accepted, encoding, content) => {
    const answer = await fetch(`${server.url}/assets/app-1.js`, {
      method: 'HEAD',
      headers: { 'accept-encoding': accepted },
    })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'content-length': String(content.length),
    })
    expect(answer.headers.get('content-encoding') ?? undefined).toBe(encoding)
  })

  test('serves files beside the page', async () => {
    const { headers } = await http.get('/favicon.svg').expect(200)
    expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'content-security-policy': POLICY })
  })

  test.each([
    ['get', '/api/nothing'],
    ['get', '/osm/api/nothing'],
    ['get', '/ws/key/workspace'],
    ['get', '/assets/nothing.js'],
    ['post', '/runs/17'],
    ['delete', '/'],
  ] as const)('%s %s is answered by the API', async (method, path) => {
    const { body } = await http[method](path).set(HTML).expect(404)
    expect(body.code).toBe('not_found')
  })

  test('a path without a page keeps its answer for clients that accept no HTML', async () => {
    await http.get('/runs/17').set('Accept', 'application/json').expect(404)
    await http.get('/runs/17').set('Accept', '*/*').expect(404)
    await http.get('/login').set('Accept', '*/*').expect(405)
  })

  test.each(['/health', '/server-info', '/docs', '/openapi.json'])('%s stays what it was', async (path) => {
    const { text } = await http.get(path).set(HTML).expect(200)
    expect(text).not.toBe(INDEX)
  })

  test('metrics still need a token', async () => {
    await http.get('/metrics').set(HTML).expect(401)
  })

  test.each([
    '/../secret.json',
    '/assets/../../../../secret.json',
    '/assets/..%2f..%2f..%2f..%2fsecret.json',
    '/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret.json',
    '/assets/..\\..\\secret.json',
    '//secret.json',
    '/assets/app-1.js.br',
    '/assets/',
  ])('nothing outside of the build can be read: %s', async (path) => {
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    // A connection that the client half closed would lose an answer that is not there yet.
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    let answer = ''
    for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
  })
})

test('an installation without a console answers as before', async () => {
  await using absent = await testServer()
  await absent.nobody.get('/').set(HTML).expect(404)
})

/** A checkout whose build of the console is replaced by a small program. */
const checkout = async (program: string): Promise<string> => {
  const root = await newFolder()
  await write(root, {
    'packages/web/index.html': 'one',
    'pnpm-lock.yaml': 'lock',
    'package.json': '{"type":"module"}',
    'scripts/console/main.ts': program,
  })
  await symlink(join(ROOT, 'packages/server'), join(root, 'packages/server'))
  return root
}

/** Like the real build, it makes the folder with its content at once: the server looks for it meanwhile. */
const COPY = `import { cpSync, renameSync } from 'node:fs'
import { consoleBuilds, hashOfSources } from '../../packages/server/src/console/console-build.ts'
const root = process.cwd()
if (process.env.SCANFARM_TOKEN !== undefined) throw new Error('the build sees secrets')
const folder = \`\${consoleBuilds(root)}/\${await hashOfSources(root)}\`
cpSync('packages/web/index.html', \`\${folder}.new/index.html\`)
renameSync(\`\${folder}.new\`, folder)
`

const pageOf = async (server: TestServer) => (await server.nobody.get('/').set(HTML)).text

test('a checkout builds the console on first use and when its sources change, and shows a page meanwhile', async () => {
  const root = await checkout(COPY)
  await using server = await testServer({ consoleRoot: root })
  const { text, headers } = await server.nobody.get('/').set(HTML).expect(503)
  expect(text).toContain('The console is being built')
  expect(text).not.toMatch(/<script|style/)
  expect(headers).toMatchObject({ refresh: '2', 'content-security-policy': POLICY })
  await until(async () => (await pageOf(server)) === 'one', { what: 'the console is built' })
  await writeFile(join(root, 'packages/web/index.html'), 'two')
  await until(async () => (await pageOf(server)) === 'two', { what: 'the console is built again' })
})

test('a login link waits until the console is built', async () => {
  await using server = await testServer({ consoleRoot: await checkout(COPY) })
  const { text } = await server.nobody.get('/login').set(HTML).expect(200)
  expect(text).toBe('one')
})

test('a failed build is shown with what to do, and repeated when the sources change', async () => {
  const root = await checkout('console.error("no such module"); process.exitCode = 1')
  await using server = await testServer({ consoleRoot: root })
  const failed = 'scripts/run scripts/console/main.ts'
  await until(async () => (await pageOf(server)).includes(failed), { what: 'the failed build is shown' })
  await writeFile(join(root, 'scripts/console/main.ts'), COPY)
  await until(async () => (await pageOf(server)) === 'one', { what: 'the console is built' })
})
