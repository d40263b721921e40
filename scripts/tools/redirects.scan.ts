import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openHarness, type Harness } from '../../packages/worker/test/harness/executors.ts'
import { bash } from '../../packages/worker/test/harness/runs.ts'

const [TARGET, FORBIDDEN, PORT] = ['127.0.40.80', '127.0.40.81', 8080]
/** How tools are told to follow redirects; wapiti follows none to another host. */
const COMMANDS = {
  curl: 'curl -sL {url}/away',
  wget: 'wget -q -O - {url}/away',
  ffuf: 'ffuf -r -u {url}/FUZZ -w {folder}/words $SCANFARM_ARGS_FFUF',
  gobuster: 'gobuster dir -r -q -u {url} -w {folder}/words $SCANFARM_ARGS_GOBUSTER',
  sqlmap: 'sqlmap --batch --flush-session --output-dir={folder} -u "{url}/away?id=1"',
  wapiti: `wapiti -m xss,redirect --flush-session --no-bugreport --store-session {folder}/session --store-config \\
    {folder}/config -f json -o {folder}/report -u {url}/ $SCANFARM_ARGS_WAPITI`,
}

let harness: Harness
const servers: Server[] = []
let [asked, reached] = [0, 0]
const serve = async (host: string, listener: RequestListener): Promise<void> => {
  const server = createServer(listener).listen(PORT, host)
  servers.push(server)
  await once(server, 'listening')
}
beforeAll(async () => {
  harness = await openHarness()
  writeFileSync(join(harness.folder, 'words'), 'away\nnothing\n')
  // Else wapiti gets it from the site of its project.
  mkdirSync(join(harness.folder, 'config'))
  writeFileSync(join(harness.folder, 'config/apps.json'), '{}')
  await serve(TARGET, ({ url = '' }, response) => {
    asked += 1
    const away = url.startsWith('/away')
    response.writeHead(away ? 302 : url === '/' ? 200 : 404, {
      'content-type': 'text/html',
      ...(away && { location: `http://${FORBIDDEN}:${PORT}${url}` }),
    })
    response.end('<a href="/away">a</a><a href="/away?id=1">b</a>')
  })
  await serve(FORBIDDEN, (_, response) => {
    reached += 1
    response.end('forbidden')
  })
  await harness.store.scopes.add({ name: 'target', allowed: [TARGET] }, 'test')
})
afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections()
  await harness?.[Symbol.asyncDispose]()
})

test.each(Object.entries(COMMANDS))('A scope keeps %s from following a redirect', async (name, text) => {
  const { store, folder } = harness
  const command = text.replaceAll('{url}', `http://${TARGET}:${PORT}`).replaceAll('{folder}', folder)
  await using _executor = harness.executor()
  const scan = async (scopeNo?: number) => {
    asked = reached = 0
    const job = { targets: [TARGET], job: { scopeNo } }
    const [runId = 0] = await harness.submit([bash(name, `${command} || true`)], job)
    return await harness.ended(runId)
  }
  const follows = name !== 'wapiti'
  await scan()
  expect(reached > 0).toBe(follows)
  const { run_group_id: job, outcome } = await scan((await store.scopes.book(undefined))?.scopes[0]?.id)
  expect([reached, asked > 0, outcome]).toEqual([0, true, follows ? 'partial' : 'clean'])
  const events = await store.scopes.refusals(job, { offset: 0, limit: 100 })
  const refused = { target: `${FORBIDDEN}:${PORT}`, place: 'request' }
  expect(events?.data).toMatchObject(follows ? [refused] : [])
  console.log(`${name}: ${asked} sent to the target, ${events?.data[0]?.reason ?? 'nothing refused'}`)
})
