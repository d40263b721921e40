import { randomBytes } from 'node:crypto'
import { mkdtemp, open as openFile, rm, truncate, writeFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { openObjectStorage } from '@scanfarm/artifacts'
import type { ObjectStorage } from '@scanfarm/contracts'
import { MOTO_INSTALL_MS, startMoto, type MotoServer } from '@scanfarm/testing'

const CANCEL_MS = 180_000
const never = new AbortController().signal

let server: MotoServer
let client: S3Client
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'object-storage-'))
  server = await startMoto()
  const credentials = { accessKeyId: 'test', secretAccessKey: 'secret-of-test' }
  client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, credentials, forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: 'shelf' }))
}, MOTO_INSTALL_MS)
afterAll(async () => {
  client.destroy()
  await server[Symbol.asyncDispose]()
  for (const file of files) await file.close()
  await rm(folder, { recursive: true, force: true })
})

const open = (prefix: string, bucket = 'shelf', page?: number): ObjectStorage & AsyncDisposable => {
  const url = `s3://test:secret-of-test@${bucket}/${prefix}?endpoint=${server.endpoint}`
  return openObjectStorage(url, page)
}

const write = async (name: string, content: string | Buffer): Promise<FileHandle> => {
  const path = join(folder, name)
  await writeFile(path, content)
  const file = await openFile(path)
  files.push(file)
  return file
}
const files: FileHandle[] = []

const contentOf = async (storage: ObjectStorage, key: string, signal = never): Promise<Buffer> => {
  let content = Buffer.alloc(0)
  await storage.download(key, async (body) => void (content = await buffer(body)), signal)
  return content
}

test('An upload, also one in several parts, is downloaded unchanged', async () => {
  await using storage = open('whole/')
  const content = randomBytes(9 * 1024 * 1024)
  await storage.upload(await write('big', content), 'a b/ä.bin', never)
  expect(content.equals(await contentOf(storage, 'a b/ä.bin'))).toBe(true)
  expect(await storage.stat('a b/ä.bin')).toEqual({
    key: 'a b/ä.bin',
    size: content.length,
    modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  })
})

test('Lists contain only objects below the configured prefix, up to the limit, across pages', async () => {
  await using storage = open('many', 'shelf', 3)
  await using other = open('many-others')
  // An upload closes its file.
  await other.upload(await write('small', 'x'), 'z', never)
  const keys = Array.from({ length: 8 }, (_, index) => `p/${index}`)
  await Promise.all(
    keys.map(async (key, index) => await storage.upload(await write(`small-${index}`, 'x'), key, never)),
  )
  expect((await storage.list('', 10_000)).map(({ key }) => key)).toEqual(keys)
  expect((await storage.list('p/', 7)).map(({ key }) => key)).toEqual(keys.slice(0, 7))
  expect((await storage.list('/p/5', 3)).map(({ key }) => key)).toEqual(['p/5'])
  expect(await storage.list('none', 10)).toEqual([])
})

test('A removed object is missing, and removing it again succeeds', async () => {
  await using storage = open('')
  await storage.upload(await write('gone', 'x'), 'gone', never)
  await storage.remove('gone')
  await storage.remove('gone')
  expect(await storage.stat('gone')).toBeUndefined()
  await expect(contentOf(storage, 'gone')).rejects.toThrow(/cannot read gone.*NoSuchKey/)
})

test('A presigned URL can be read without credentials until it expires', async () => {
  await using storage = open('signed')
  await storage.upload(await write('shared', 'for all'), 'shared.txt', never)
  const url = await storage.presign('shared.txt', 5)
  expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('300')
  expect(url).not.toContain('secret-of-test')
  expect(await (await fetch(url)).text()).toBe('for all')
  await expect(storage.presign('shared.txt', 20_000)).rejects.toThrow('up to 10080 minutes')
})

test(
  'A cancelled upload leaves no parts in the bucket',
  async () => {
    await using storage = open('cancelled')
    // A sparse file with so many parts that all calls below happen before the last part.
    const file = await write('huge', '')
    await truncate(join(folder, 'huge'), 4 * 1024 ** 3)
    const parts = async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: 'shelf' }))).Uploads ?? []
    const atOnce = new AbortController()
    const none = storage.upload(file, 'huge', atOnce.signal)
    atOnce.abort()
    await expect(none).rejects.toThrow(/abort/i)
    const underWay = new AbortController()
    const some = storage.upload(await openFile(join(folder, 'huge')), 'huge', underWay.signal)
    const ending = some.then(() => 'written', String)
    while ((await parts()).length === 0);
    underWay.abort()
    expect(await ending).toMatch(/cannot write huge.*abort/i)
    expect(await parts()).toEqual([])
    expect(await storage.stat('huge')).toBeUndefined()
    await expect(contentOf(storage, 'x', AbortSignal.abort())).rejects.toThrow(/abort/)
  },
  CANCEL_MS,
)

test('Bad keys and missing buckets have distinct errors', async () => {
  await using storage = open('safe')
  const file = await write('fine', 'x')
  for (const key of ['', '../out', 'a/../../b', '/a', 'a\n', 'x'.repeat(1_020)])
    await expect(storage.upload(file, key, never)).rejects.toThrow('not a key of the object store')
  await using nowhere = open('', 'no-such-bucket')
  await expect(nowhere.list('', 1)).rejects.toThrow(/bucket no-such-bucket.*NoSuchBucket/)
})
