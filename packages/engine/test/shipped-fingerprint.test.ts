import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { resolveWorkflow } from '@scanfarm/language'
import { openLibrary } from '../src/library/open-library.ts'
import { useRuns, WORKFLOWS } from './harness/runs.ts'

/** Answers as whatweb 0.5.5: URLs with brackets have no record, and the exit code is 0. */
const WHATWEB = `#!/bin/sh
cp input.txt seen.txt
echo '[' > whatweb.json
grep -v '://\\[' input.txt | sed 's/.*/{"target":"&","http_status":200,"plugins":{}}/' >> whatweb.json
echo ']' >> whatweb.json
`

const { folder, runResolved } = useRuns({ whatweb: WHATWEB })
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

const listen = async (): Promise<number> => {
  const server = createServer((socket) => socket.destroy())
  servers.push(server.listen(0, '::1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const fingerprint = async (urls: readonly string[]) => {
  const list = join(folder(), 'list.txt')
  writeFileSync(list, `${urls.join('\n')}\n`)
  const library = await openLibrary([WORKFLOWS])
  const workflow = resolveWorkflow(library, { name: 'fingerprint', kind: 'module' })
  const paths = [{ path: folder(), write: false }]
  const { read } = await runResolved(workflow, { target: '::1', params: { urls_file: list }, paths })
  return (name: string) => read(name).split('\n').filter(Boolean)
}

test('fingerprint passes web servers at IPv6 addresses on if their port is open, and no such address to whatweb', async () => {
  const open = `http://[::1]:${await listen()}/`
  const lines = await fingerprint([open, 'http://[::1]:1/', 'http://127.0.0.1:9/'])
  expect(lines('urls.txt')).toEqual(['http://127.0.0.1:9/', open])
  expect(lines('fingerprint/seen.txt')).toEqual(['http://127.0.0.1:9/'])
  expect(lines('fingerprint/silent.txt')).toEqual(['http://[::1]:1/'])
})

test('fingerprint works without whatweb if all addresses are IPv6', async () => {
  const open = `http://[::1]:${await listen()}/`
  const lines = await fingerprint([open])
  expect(lines('urls.txt')).toEqual([open])
  expect(lines('fingerprint/silent.txt')).toEqual([])
})
