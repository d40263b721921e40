import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { openArtifactStore } from '@scanfarm/artifacts'
import { artifactStoreConformance } from './conformance.ts'
import { MOTO_INSTALL_MS, startMoto, type MotoServer } from '@scanfarm/testing'

const run = promisify(execFile)
const credentials = { accessKeyId: 'test', secretAccessKey: 'secret-of-test' }

let server: MotoServer
let client: S3Client
beforeAll(async () => {
  server = await startMoto()
  client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, credentials, forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: 'farm' }))
}, MOTO_INSTALL_MS)
afterAll(async () => {
  client.destroy()
  await server[Symbol.asyncDispose]()
})

const open = (bucket: string, prefix: string, endpoint = server.endpoint) =>
  openArtifactStore({
    kind: 's3',
    bucket,
    prefix,
    endpoint,
    region: 'us-east-1',
    credentials,
    forcePathStyle: true,
  })

artifactStoreConformance(async () => open('farm', 'some/prefix'))

test('Objects are stored below the prefix, and failed uploads leave no parts', async () => {
  await using store = open('farm', 'tidy')
  const failing = async function* () {
    yield Buffer.alloc(9 * 1024 * 1024)
    throw new Error('gone')
  }
  await store.put('a', Readable.from([Buffer.from('x')]))
  await expect(store.put('b', Readable.from(failing()))).rejects.toThrow('gone')
  const objects = await client.send(new ListObjectsV2Command({ Bucket: 'farm', Prefix: 'tidy/' }))
  expect(objects.Contents?.map((object) => object.Key)).toEqual(['tidy/a'])
  const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: 'farm' }))
  expect(uploads.Uploads ?? []).toEqual([])
})

test('Objects whose names are not keys, like those that consoles create for folders, are not listed', async () => {
  await using store = open('farm', 'beside')
  await store.put('runs/a/1.log', Readable.from([Buffer.from('x')]))
  for (const name of ['runs/', 'runs/a/', 'runs/a/copy of 1.log'])
    await client.send(new PutObjectCommand({ Bucket: 'farm', Key: `beside/${name}`, Body: 'x' }))
  expect((await Array.fromAsync(store.list('runs'))).map(({ key }) => key)).toEqual(['runs/a/1.log'])
  expect(await store.oldKeys('runs/a', new Date(Date.now() + 60_000), 10)).toEqual(['runs/a/1.log'])
})

test('A missing bucket is an error with advice, not a missing object', async () => {
  await using store = open('no-such-bucket', '')
  await expect(store.check()).rejects.toThrow(
    /cannot write check\/.* in the S3 bucket no-such-bucket at http.*NoSuchBucket.*check bucket, region, endpoint/,
  )
  await expect(store.get('x')).rejects.toThrow(/NoSuchBucket/)
})

test('An endpoint with a certificate of another authority is trusted by the file of `ca`', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-s3-ca-'))
  const at = (name: string): string => join(folder, name)
  const key = (name: string): string[] => [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-keyout',
    at(name),
  ]
  const common = ['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=test']
  await run('openssl', [...common, ...key('ca.key'), '-out', at('ca.pem')])
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-addext', 'subjectAltName=IP:127.0.0.1']
  const leaf = ['-addext', 'basicConstraints=CA:FALSE', '-out', at('tls.pem')]
  await run('openssl', [...common, ...key('tls.key'), ...signed, ...leaf])
  const files = { key: await readFile(at('tls.key')), cert: await readFile(at('tls.pem')) }
  // The real service behind TLS.
  const front = createServer(files, (socket) => {
    const back = connect(Number(new URL(server.endpoint).port), '127.0.0.1')
    for (const [one, other] of [
      [socket, back],
      [back, socket],
    ] as const)
      one.on('error', () => other.destroy()).pipe(other)
  }).listen(0, '127.0.0.1')
  try {
    await once(front, 'listening')
    const address = front.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const options = { kind: 's3', bucket: 'farm', prefix: 'tls', region: 'us-east-1', credentials } as const
    const endpoint = `https://127.0.0.1:${port}`
    {
      await using store = openArtifactStore({ ...options, endpoint, forcePathStyle: true, ca: at('ca.pem') })
      await store.check()
      await store.put('a', Readable.from([Buffer.from('x')]))
      expect(await store.size('a')).toBe(1)
    }
    await using stranger = open('farm', 'tls', endpoint)
    await expect(stranger.check()).rejects.toThrow(/unable to verify|self.signed/)
    await using broken = openArtifactStore({ ...options, endpoint, ca: at('missing.pem') })
    await expect(broken.check()).rejects.toThrow(
      /certificates of the bucket \(.*missing\.pem\) cannot be read/,
    )
  } finally {
    front.close()
    await rm(folder, { recursive: true })
  }
})

test('The error for an unreachable server names it', async () => {
  await using store = open('farm', '', 'http://127.0.0.1:1')
  await expect(store.check()).rejects.toThrow(/at http:\/\/127.0.0.1:1 .*ECONNREFUSED/)
})
