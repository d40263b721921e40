// exclusive: docker
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { RunnerContext } from '@scanfarm/contracts'
import { freePort } from '@scanfarm/testing'
import type { DockerSettings } from '../src/index.ts'
import { connectEngine, createRunners, detectCapabilities, dockerOptions, reachEngine } from '../src/index.ts'
import { registryOf } from '../src/docker/registry-auth.ts'
import { startEngine, type PrivateEngine } from './docker-engine.ts'
import { TEST_MS } from './processes.ts'
import { startRegistry, type TestRegistry } from './registry.ts'

const exec = promisify(execFile)
jest.setTimeout(TEST_MS)
const LOGIN = 'farm:s3cret pass'

/** Two authorities, `ca` and `other`, and certificates of `ca`: `server` for this machine, `client` for the runner. */
async function makeCertificates(folder: string): Promise<void> {
  const openssl = (...args: string[]): Promise<unknown> => exec('openssl', args, { cwd: folder })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  for (const name of ['ca', 'other'])
    await openssl(
      'req',
      '-x509',
      ...key,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
      '-subj',
      '/CN=test',
    )
  await writeFile(join(folder, 'server.ext'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n')
  await writeFile(join(folder, 'client.ext'), 'extendedKeyUsage=clientAuth\n')
  for (const name of ['server', 'client']) {
    const request = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`]
    await openssl('req', ...key.slice(0, -2), ...request)
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2']
    const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`]
    await openssl('x509', '-req', ...signer, ...files)
  }
}

/** A new folder for `runner.docker_config` with these files. */
const configFolder = (parent: string, files: Readonly<Record<string, string | undefined>>): string => {
  const folder = mkdtempSync(join(parent, 'config-'))
  for (const [name, content] of Object.entries(files))
    if (content !== undefined) writeFileSync(join(folder, name), content)
  return folder
}

describe('a remote docker engine', () => {
  let folder: string
  let engine: PrivateEngine
  let registry: TestRegistry
  let pem: Record<'ca' | 'cert' | 'key' | 'other', string>
  const closing = new AsyncDisposableStack()

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scanfarm-tls-'))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    await makeCertificates(folder)
    const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
    pem = {
      ca: await read('ca.pem'),
      cert: await read('client.pem'),
      key: await read('client.key'),
      other: await read('other.pem'),
    }
    const files = ['cacert=ca.pem', 'cert=server.pem', 'key=server.key'].map((pair) => {
      const [name, file = ''] = pair.split('=')
      return `--tls${name}=${join(folder, file)}`
    })
    engine = closing.use(
      await startEngine({
        address: `tcp://127.0.0.1:${await freePort()}`,
        args: ['--tlsverify', ...files],
        tls: pem,
      }),
    )
    registry = closing.use(await startRegistry(LOGIN))
  })
  afterAll(() => closing.disposeAsync())

  const settings = (
    change: { ca?: string; cert?: string; key?: string; auth?: string } = {},
  ): DockerSettings => {
    const { ca, cert, key, auth } = { ca: pem.ca, cert: pem.cert, key: pem.key, ...change }
    return {
      dockerHost: engine.address,
      dockerConfig: configFolder(folder, {
        'ca.pem': ca,
        'cert.pem': cert,
        'key.pem': key,
        'config.json': auth,
      }),
      dockerImages: ['*'],
      dockerVolumes: ['*'],
      dockerNetworks: ['*'],
    }
  }

  const context = (): RunnerContext => ({
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder,
    marker: `remote-${crypto.randomUUID()}`,
    signal: new AbortController().signal,
    log: () => {},
  })

  async function open(change: Parameters<typeof settings>[0]): Promise<unknown> {
    await using runners = createRunners({ docker: { ...dockerOptions(settings(change)), owner: 'remote' } })
    await using _runner = await runners.open({ type: 'docker', image: registry.image }, context())
    return undefined
  }

  test('is used over TLS, and pulls with the credentials of the registry', async () => {
    const auth = JSON.stringify({
      auths: { [new URL(`http://${registry.image}`).host]: { auth: btoa(LOGIN) } },
    })
    // The image has no shell, so the run stops here.
    await expect(open({ auth })).rejects.toThrow(/has no \/bin\/sh/)
    const questions = { tools: [], docker: dockerOptions(settings()) }
    expect(await detectCapabilities(questions)).toEqual(['docker'])
    expect(
      await detectCapabilities({ ...questions, docker: dockerOptions(settings({ ca: pem.other })) }),
    ).toEqual([])
    await exec('docker', [
      '--host',
      engine.address,
      '--tlsverify',
      '--tlscacert',
      join(folder, 'ca.pem'),
      '--tlscert',
      join(folder, 'client.pem'),
      '--tlskey',
      join(folder, 'client.key'),
      'rmi',
      registry.image,
    ])
  })

  test('is reported with the registry that requires credentials or refuses them', async () => {
    const host = new URL(`http://${registry.image}`).host
    await expect(open({})).rejects.toThrow(
      `config.json of runner.docker_config has no credentials for ${host}`,
    )
    const auth = JSON.stringify({ auths: { [host]: { username: 'farm', password: 'wrong' } } })
    await expect(open({ auth })).rejects.toThrow(`${host} refuses the credentials of config.json`)
  })

  test('that closes the connection is reported as one that may require a certificate, if none is set', async () => {
    const key = await readFile(join(folder, 'server.key'), 'utf8')
    const cert = await readFile(join(folder, 'server.pem'), 'utf8')
    const server = createServer({ key, cert }, (socket) => socket.destroy())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const at = { engine: `tcp://127.0.0.1:${port}`, tls: { ca: pem.ca } }
    await expect(reachEngine(await connectEngine(at), at)).rejects.toThrow('maybe it asks for a certificate')
    server.close()
    await once(server, 'close')
  })

  test('is reported with the problem of its certificates', async () => {
    await expect(open({ ca: pem.other })).rejects.toThrow('not signed by the authority in ca.pem')
    await expect(open({ cert: undefined, key: undefined })).rejects.toThrow(
      /asks for a certificate|refuses our/,
    )
    await expect(open({ cert: undefined })).rejects.toThrow('belong together')
    await expect(open({ ca: undefined })).rejects.toThrow('needs ca.pem')
    const plain = { ca: undefined, cert: undefined, key: undefined }
    await expect(open(plain)).rejects.toThrow(/TLS|HTTPS/)
  })
})

describe('the docker settings', () => {
  const given = (change: Partial<DockerSettings>) => () =>
    dockerOptions({
      dockerHost: 'unix:///run/docker.sock',
      dockerConfig: undefined,
      dockerImages: [],
      dockerVolumes: [],
      dockerNetworks: [],
      ...change,
    })

  test('are refused if they contradict each other', () => {
    expect(given({})()).toMatchObject({ engine: 'unix:///run/docker.sock' })
    for (const dockerHost of ['ssh://host', 'host:2375', 'tcp://', 'docker.sock'])
      expect(given({ dockerHost })).toThrow('is not the address of a docker engine')
    expect(given({ dockerHost: 'https://host' })).toThrow('needs ca.pem')
  })

  test('accept the file of docker login, and never show its content', () => {
    const folder = mkdtempSync(join(tmpdir(), 'scanfarm-docker-config-'))
    using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
    const dockerConfig = (text: string) => configFolder(folder, { 'config.json': text })
    const auths = (config: unknown) => given({ dockerConfig: dockerConfig(JSON.stringify(config)) })().auths
    const auth = btoa('me:pass:word')
    expect(auths({ auths: { 'https://index.docker.io/v1/': { auth } } })?.get('docker.io')).toEqual({
      serveraddress: 'docker.io',
      username: 'me',
      password: 'pass:word',
    })
    expect(auths({ auths: { 'ghcr.io': { identitytoken: 'tok' } } })?.get('ghcr.io')).toMatchObject({
      identitytoken: 'tok',
    })
    // A capital letter makes the first part a host for Docker, as a dot and a port do.
    expect(['Lab/app', 'lab/app', 'Lab/team/app:1'].map(registryOf)).toEqual(['Lab', 'docker.io', 'Lab'])
    expect(given({ dockerConfig: dockerConfig('hush, no JSON') })).toThrow(/^(?!.*hush).*it is not JSON/)
    expect(() => auths({ credsStore: 'desktop' })).toThrow('helper program')
    expect(() => auths({ auths: { 'ghcr.io': {} } })).toThrow('the entry of ghcr.io')
  })
})
