import { Readable } from 'node:stream'
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

test('The error for an unreachable server names it', async () => {
  await using store = open('farm', '', 'http://127.0.0.1:1')
  await expect(store.check()).rejects.toThrow(/at http:\/\/127.0.0.1:1 .*ECONNREFUSED/)
})
