import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { ArtifactStore, ByteRange, StoredObject } from '@scanfarm/contracts'
import { checkKey } from './key.ts'
import { createMeter } from './meter.ts'

export interface S3Options {
  readonly bucket: string
  /** Put before every key with a `/` between; `""`: none. */
  readonly prefix: string
  readonly region: string
  /** For other servers that speak S3; missing: that of AWS. */
  readonly endpoint?: string
  /** Missing: the SDK's own chain (instance role, web identity, environment). */
  readonly credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /** Bucket in the path, not in the host name: most servers but AWS need it. */
  readonly forcePathStyle?: boolean
}

/** Memory of one upload: at most this many parts at once; S3 takes 10,000 parts, so objects up to 80 GB. */
const PART_BYTES = 8 * 1024 * 1024
const PARTS_AT_ONCE = 2
const CONNECT_TIMEOUT_MS = 5_000
const SILENCE_TIMEOUT_MS = 60_000
const MAX_ATTEMPTS = 4

type Sdk = typeof import('@aws-sdk/client-s3')
type Found = { size: number; body: Readable }

/** Objects of a bucket. The SDK is loaded at first use: processes that keep artifacts in a folder never pay for it. */
export function openS3Store(options: S3Options): ArtifactStore {
  let opened: Promise<{ sdk: Sdk; client: S3Client }> | undefined
  const connect = (): Promise<{ sdk: Sdk; client: S3Client }> => (opened ??= openClient(options))
  const place = (key: string): { Bucket: string; Key: string } => {
    checkKey(key)
    return { Bucket: options.bucket, Key: options.prefix === '' ? key : `${options.prefix}/${key}` }
  }
  const told = async <T>(doing: string, work: Promise<T>): Promise<T> => {
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
      return told(`write ${key}`, upload(client, place(key), body))
    },
    async get(key, range) {
      const { sdk, client } = await connect()
      return told(`read ${key}`, download(sdk, client, place(key), range))
    },
    async size(key) {
      const { sdk, client } = await connect()
      return told(`read ${key}`, sizeOf(sdk, client, place(key)))
    },
    async remove(key) {
      const { sdk, client } = await connect()
      await told(`remove ${key}`, client.send(new sdk.DeleteObjectCommand(place(key))))
    },
    async check() {
      const key = `check/${randomUUID()}`
      await store.put(key, Readable.from([Buffer.from('ok')]))
      await store.remove(key)
    },
    async [Symbol.asyncDispose]() {
      const open = await opened
      open?.client.destroy()
    },
  }
  return store
}

const openClient = async (options: S3Options): Promise<{ sdk: Sdk; client: S3Client }> => {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region: options.region,
    endpoint: options.endpoint,
    credentials: options.credentials,
    forcePathStyle: options.forcePathStyle ?? false,
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: SILENCE_TIMEOUT_MS },
    // Many servers that speak S3 do not know the newer trailing checksums; we keep a SHA-256 of our own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  return { sdk, client }
}

const upload = async (
  client: S3Client,
  place: { Bucket: string; Key: string },
  body: Readable,
): Promise<StoredObject> => {
  const { Upload } = await import('@aws-sdk/lib-storage')
  const meter = createMeter()
  const measured = Readable.from(meter.through(body))
  try {
    await new Upload({
      client,
      params: { ...place, Body: measured },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      leavePartsOnError: false,
    }).done()
  } finally {
    measured.destroy()
    body.destroy()
  }
  return meter.result()
}

const download = async (
  sdk: Sdk,
  client: S3Client,
  place: { Bucket: string; Key: string },
  range: ByteRange | undefined,
): Promise<Found | undefined> => {
  const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`
  try {
    const answer = await client.send(new sdk.GetObjectCommand({ ...place, Range }))
    const total = answer.ContentRange?.split('/')[1]
    const size = total === undefined ? (answer.ContentLength ?? 0) : Number(total)
    return { size, body: answer.Body instanceof Readable ? answer.Body : Readable.from([]) }
  } catch (error) {
    if (statusOf(error) === 416)
      return { size: (await sizeOf(sdk, client, place)) ?? 0, body: Readable.from([]) }
    if (isMissing(error)) return undefined
    throw error
  }
}

const sizeOf = async (
  sdk: Sdk,
  client: S3Client,
  place: { Bucket: string; Key: string },
): Promise<number | undefined> => {
  try {
    const answer = await client.send(new sdk.HeadObjectCommand(place))
    return answer.ContentLength ?? 0
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const statusOf = (error: unknown): number => {
  if (!Error.isError(error) || !('$metadata' in error)) return 0
  const metadata: unknown = error.$metadata
  const status = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
  return status ? Number(metadata.httpStatusCode) : 0
}

/** A missing bucket is not a missing object, though both are 404; HEAD tells no name of the error. */
const isMissing = (error: unknown): boolean =>
  Error.isError(error) && ['NoSuchKey', 'NotFound'].includes(error.name)

const explained = (doing: string, options: S3Options, error: unknown): Error => {
  const where = `S3 bucket ${options.bucket}${options.endpoint === undefined ? '' : ` at ${options.endpoint}`}`
  const reason = Error.isError(error) ? `${error.name}: ${error.message}` : String(error)
  return new Error(
    `cannot ${doing} in the ${where} (${reason}): check bucket, region, endpoint and credentials`,
    { cause: error },
  )
}
