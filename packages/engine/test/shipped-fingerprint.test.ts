import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { resolveWorkflow } from '@scanfarm/language'
import { Engine } from '../src/engine.ts'
import { execute } from '../src/execute.ts'
import { openLibrary } from '../src/library/open-library.ts'
import { hostRunner } from './harness/host-runner.ts'
import { MemoryRecorder } from './harness/recorder.ts'

/** Answers as whatweb 0.5.5: URLs with brackets have no record, and the exit code is 0. */
const WHATWEB = `#!/bin/sh
cp input.txt seen.txt
echo '[' > whatweb.json
grep -v '://\\[' input.txt | sed 's/.*/{"target":"&","http_status":200,"plugins":{}}/' >> whatweb.json
echo ']' >> whatweb.json
`

let folder = ''
const engine = new Engine()
const servers: Server[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-fingerprint-'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/whatweb'), WHATWEB)
  chmodSync(join(folder, 'bin/whatweb'), 0o755)
})
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

const listen = async (): Promise<number> => {
  const server = createServer((socket) => socket.destroy())
  servers.push(server.listen(0, '::1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const fingerprint = async (urls: readonly string[]) => {
  const output = mkdtempSync(join(folder, 'run-'))
  const list = join(output, 'list.txt')
  writeFileSync(list, `${urls.join('\n')}\n`)
  const recorder = new MemoryRecorder()
  await execute({
    workflow: resolveWorkflow(await openLibrary([join(import.meta.dirname, '../../../workflows')]), {
      name: 'fingerprint',
      kind: 'module',
    }),
    target: '::1',
    params: { urls_file: list },
    workspace: 'ws',
    runUuid: '0c4c6c0e-7a0b-4d8e-9d5e-7c4f7a9f2c11',
    runId: 1,
    attempt: 1,
    folders: { output, temp: join(output, 'tmp') },
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: output },
    openRunner: async () => hostRunner(),
    recorder,
    signal: new AbortController().signal,
    engine,
  })
  return (name: string) => readFileSync(join(output, name), 'utf8').split('\n').filter(Boolean)
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
