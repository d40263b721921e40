import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { ArtifactStore, ByteRange, StoredObject } from '@scanfarm/contracts'
import { checkKey, isKey } from './key.ts'
import { createMeter } from './meter.ts'
import {
  explained,
  isMissing,
  openClient,
  statusOf,
  type Connection,
  type S3Options,
  UPLOAD,
} from './s3-client.ts'

type Sdk = Connection['sdk']
type Found = { size: number; body: Readable }

/** Objects in a bucket. The SDK is loaded on first use. */
export function openS3Store(options: S3Options): ArtifactStore {
  let opened: Promise<Connection> | undefined
  const connect = (): Promise<Connection> => (opened ??= openClient(options))
  const address = (key: string): { Bucket: string; Key: string } => {
    checkKey(key)
    return { Bucket: options.bucket, Key: options.prefix === '' ? key : `${options.prefix}/${key}` }
  }
  const explaining = async <T>(doing: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw explained(doing, options, error)
    }
  }
  const store: ArtifactStore = {
    kind: 's3',
    async put(key, body) {
      const { client } = await connect()
      return explaining(`write ${key}`, upload(client, address(key), body))
    },
    async get(key, range) {
      const { sdk, client } = await connect()
      return explaining(`read ${key}`, download(sdk, client, address(key), range))
    },
    async size(key) {
      const { sdk, client } = await connect()
      return explaining(`read ${key}`, sizeOf(sdk, client, address(key)))
    },
    async remove(key) {
      const { sdk, client } = await connect()
      await explaining(`remove ${key}`, client.send(new sdk.DeleteObjectCommand(address(key))))
    },
    async oldKeys(folder, before, limit) {
      const { sdk, client } = await connect()
      return explaining(`list ${folder}`, oldObjects(sdk, client, address(folder), folder, { before, limit }))
    },
    async *list(folder) {
      const { sdk, client } = await connect()
      const { Bucket, Key } = address(folder)
      const Prefix = `${Key}/`
      let ContinuationToken: string | undefined
      do {
        const ask = new sdk.ListObjectsV2Command({ Bucket, Prefix, ContinuationToken })
        const page = await explaining(`list ${folder}`, client.send(ask))
        for (const { Key: name = '', LastModified: modified } of page.Contents ?? []) {
          const key = `${folder}/${name.slice(Prefix.length)}`
          if (modified !== undefined && isKey(key)) yield { key, modified }
        }
        ContinuationToken = page.NextContinuationToken
      } while (ContinuationToken !== undefined)
    },
    async check() {
      const key = `check/${randomUUID()}`
      await store.put(key, Readable.from([Buffer.from('ok')]))
      await store.remove(key)
    },
    async [Symbol.asyncDispose]() {
      const open = await opened?.catch(() => undefined)
      open?.client.destroy()
    },
  }
  return store
}

const upload = async (
  client: S3Client,
  address: { Bucket: string; Key: string },
  body: Readable,
): Promise<StoredObject> => {
  const { Upload } = await import('@aws-sdk/lib-storage')
  const meter = createMeter()
  const measured = Readable.from(meter.through(body))
  try {
    await new Upload({ client, params: { ...address, Body: measured }, ...UPLOAD }).done()
  } finally {
    measured.destroy()
    body.destroy()
  }
  return meter.result()
}

const download = async (
  sdk: Sdk,
  client: S3Client,
  address: { Bucket: string; Key: string },
  range: ByteRange | undefined,
): Promise<Found | undefined> => {
  const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`
  try {
    const answer = await client.send(new sdk.GetObjectCommand({ ...address, Range }))
    const total = answer.ContentRange?.split('/')[1]
    const size = total === undefined ? (answer.ContentLength ?? 0) : Number(total)
    return { size, body: answer.Body instanceof Readable ? answer.Body : Readable.from([]) }
  } catch (error) {
    if (statusOf(error) === 416)
      return {
        size: sizeIn(error) ?? (await sizeOf(sdk, client, address)) ?? 0,
        body: Readable.from([]),
      }
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Most services name the size in their refusal of a range: that saves a request to those who wait for more bytes. */
const sizeIn = (error: unknown): number | undefined => {
  const size = Error.isError(error) && 'ActualObjectSize' in error ? Number(error.ActualObjectSize) : NaN
  return Number.isSafeInteger(size) ? size : undefined
}

/** S3 lists by name, so all objects are listed. */
const oldObjects = async (
  sdk: Sdk,
  client: S3Client,
  { Bucket, Key }: { Bucket: string; Key: string },
  folder: string,
  { before, limit }: { before: Date; limit: number },
): Promise<string[]> => {
  const keys: string[] = []
  const Prefix = `${Key}/`
  let ContinuationToken: string | undefined
  do {
    const ask = new sdk.ListObjectsV2Command({ Bucket, Prefix, Delimiter: '/', ContinuationToken })
    const page = await client.send(ask)
    for (const { Key: name = '', LastModified: put } of page.Contents ?? []) {
      const key = `${folder}/${name.slice(Prefix.length)}`
      if (put !== undefined && put < before && isKey(key)) keys.push(key)
    }
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken !== undefined && keys.length < limit)
  return keys.slice(0, limit)
}

const sizeOf = async (
  sdk: Sdk,
  client: S3Client,
  address: { Bucket: string; Key: string },
): Promise<number | undefined> => {
  try {
    const answer = await client.send(new sdk.HeadObjectCommand(address))
    return answer.ContentLength ?? 0
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
