import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { runCaptured } from './captured-terminal.ts'

let server: Server
let status = 200
let asked: string[] = []

beforeEach(async () => {
  asked = []
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(status).end('{"status":"as given"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const port = (): string => {
  const address = server.address()
  return typeof address === 'object' && address ? String(address.port) : ''
}

const health = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  runCaptured(['health', ...args], env)

test('health ends with exit code 0 and the answer of a server that is ready', async () => {
  status = 200
  expect(await health([], { SCANFARM_HTTP_PORT: port() })).toEqual({
    code: 0,
    out: '{"status":"as given"}\n',
    err: '',
  })
  expect(asked).toEqual(['/health/ready'])
})

test('health asks at the address on which the program listens', async () => {
  await new Promise((resolve) => server.close(resolve))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.55', resolve))
  status = 200
  const host = { SCANFARM_HTTP_HOST: '127.0.0.55' }
  expect(await health([], { ...host, SCANFARM_HTTP_PORT: port() })).toMatchObject({ code: 0 })
  expect(await health(['--worker'], { ...host, SCANFARM_WORKER_HEALTH_PORT: port() })).toMatchObject({
    code: 0,
  })
})

test('health ends with exit code 4 and the answer of a worker that is not ready', async () => {
  status = 503
  const { code, err } = await health(['--worker'], { SCANFARM_WORKER_HEALTH_PORT: port() })
  expect(code).toBe(4)
  expect(err).toContain('not ready: {"status":"as given"}')
})

test('health --worker ends with exit code 2 when worker.health_port is 0', async () => {
  const { code, err } = await health(['--worker'], { SCANFARM_WORKER_HEALTH_PORT: '0' })
  expect(code).toBe(2)
  expect(err).toContain('worker.health_port is 0')
})
