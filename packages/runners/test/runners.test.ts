import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { RunnerSpec } from '@scanfarm/contracts'
import { createRunners, detectCapabilities, type RunnersOptions } from '../src/index.ts'

const NEVER = new AbortController().signal

async function open(options: RunnersOptions, spec: RunnerSpec): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-runners-'))
  await using runners = createRunners(options)
  const context = { runUuid: 'r', attempt: 1, folder, marker: 'runners-1', signal: NEVER, log: () => {} }
  try {
    await using runner = await runners.open(spec, context)
    return runner.type
  } finally {
    await rm(folder, { recursive: true })
  }
}

const docker = { engine: '/no/such.sock', owner: 'test' }
const ssh = { attempts: 1 }

test('the type of a runner decides where commands run', async () => {
  expect(await open({}, { type: 'host' })).toBe('host')
  await expect(open({ docker }, { type: 'docker', image: 'x' })).rejects.toThrow('/no/such.sock')
  await expect(open({ ssh }, { type: 'ssh', host: '127.0.0.1', port: 1 })).rejects.toThrow('127.0.0.1:1')
})

test('an invalid address of the docker engine is refused before any run', () => {
  expect(() => createRunners({ docker: { engine: 'nonsense', owner: 'test' } })).toThrow(
    '"nonsense" is not the address of a docker engine',
  )
})

test('without a docker engine there are no containers to remove', async () => {
  await using runners = createRunners({ docker })
  expect(await runners.sweepContainers(() => false)).toBe(0)
})

test('a runner type without options is disabled', async () => {
  await expect(open({}, { type: 'docker', image: 'x' })).rejects.toThrow('docker commands are switched off')
  await expect(open({}, { type: 'ssh', host: 'x' })).rejects.toThrow('ssh commands are switched off')
})

test('images and hosts that the settings do not allow are refused before a connection is opened', async () => {
  const images = { docker: { ...docker, images: ['ghcr.io/ours/*', 'alpine:3'] } }
  await expect(open(images, { type: 'docker', image: 'alpine:4' })).rejects.toThrow('not allowed by runner.')
  await expect(open(images, { type: 'docker', image: 'ghcr.io/ours/tool:1' })).rejects.toThrow(
    '/no/such.sock',
  )
  const hosts = { ssh: { ...ssh, hosts: ['127.0.0.*', 'scan@box:2222'] } }
  await expect(open(hosts, { type: 'ssh', host: 'box', port: 22, user: 'scan' })).rejects.toThrow(
    'not allowed by runner.',
  )
  await expect(open(hosts, { type: 'ssh', host: '127.0.0.1', port: 1 })).rejects.toThrow('ECONNREFUSED')
})

test('docker networks that the settings do not allow are refused, except for none', async () => {
  const networks = { docker: { ...docker, networks: ['scan-*'] } }
  for (const network of ['host', 'container:other', 'bridge'])
    await expect(open(networks, { type: 'docker', image: 'x', network })).rejects.toThrow(
      `the docker network ${network} is not allowed by runner.docker_networks`,
    )
  for (const network of ['scan-1', 'none', undefined])
    await expect(
      open(networks, { type: 'docker', image: 'x', ...(network !== undefined && { network }) }),
    ).rejects.toThrow('/no/such.sock')
})

test('capabilities are the tools, the engine if it answers, and the labels', async () => {
  expect(await detectCapabilities({ tools: ['tool', 'sh'], labels: ['zone:a'], docker })).toEqual([
    'tool:sh',
    'tool:tool',
    'zone:a',
  ])
})
