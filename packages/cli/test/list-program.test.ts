import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from '@jest/globals'
import { listen } from '@scanfarm/testing'

const SCANFARM = join(import.meta.dirname, '../../../scripts/scanfarm')
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-list-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a list loads one script and not fetch, reports refusals, and uses the proxy of the environment', async () => {
  const preload = join(folder, 'modules.cjs')
  const modules = join(folder, 'modules.json')
  writeFileSync(
    preload,
    `const files = []
require('module').registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) })
process.on('exit', () => require('fs').writeFileSync('${modules}', JSON.stringify([files, process.moduleLoadList])))`,
  )
  const page = { data: [{ id: 7, target: 'a.example' }], pagination: { total: 1, offset: 0, limit: 20 } }
  await using server = createServer((request, response) => {
    const path = request.url?.replace(/^http:\/\/farm\.invalid/, '')
    const known = path === '/api/runs?target=a%26b' && request.headers.authorization === 'Bearer t'
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    response.end(gzipSync(JSON.stringify(known ? page : { message: 'not here' })))
  })
  const env = {
    ...process.env,
    NODE_OPTIONS: `--require=${preload}`,
    SCANFARM_URL: `http://127.0.0.1:${await listen(server)}`,
    SCANFARM_TOKEN: 't',
  }
  const list = async (target: string, more = {}) =>
    await promisify(execFile)(SCANFARM, ['runs', 'list', '--target', target, '--json'], {
      env: { ...env, ...more },
      cwd: folder,
    })
  expect(JSON.parse((await list('a&b')).stdout)).toEqual(page)
  const loaded = readFileSync(modules, 'utf8')
  expect(loaded).toContain('NativeModule http')
  expect(loaded).not.toContain('undici')
  expect(loaded).toMatch(/\/start\.[jt]s"/)
  expect(loaded).not.toContain('/main.js"')
  await expect(list('b')).rejects.toThrow('/api/runs?target=b answered 404')
  const proxied = {
    NODE_USE_ENV_PROXY: '1',
    http_proxy: env.SCANFARM_URL,
    no_proxy: '',
    SCANFARM_URL: 'http://farm.invalid',
  }
  expect(JSON.parse((await list('a&b', proxied)).stdout)).toEqual(page)
})
