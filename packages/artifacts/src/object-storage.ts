import { addAbortListener } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ObjectStorage, NamedObject } from '@scanfarm/contracts'
import { explained, isMissing, openClient, UPLOAD, type Connection } from './s3-client.ts'
import { readS3Url } from './s3-url.ts'

const MAX_KEY_BYTES = 1024
const MAX_DOWNLOAD_BYTES = 80 * 1024 ** 3
/** Most keys in one response of S3. */
const PAGE = 1_000
/** S3 limits signatures to a week. */
const MAX_PRESIGN_MINUTES = 7 * 24 * 60

/** The bucket of `storage.s3`. Connects on first use. `page`: keys in one request. */
export const openObjectStorage = (url: string, page = PAGE): ObjectStorage & AsyncDisposable => {
  const options = readS3Url(url)
  const trimmed = options.prefix.replaceAll(/^\/+|\/+$/g, '')
  const before = trimmed === '' ? '' : `${trimmed}/`
  const Bucket = options.bucket
  let opened: Promise<Connection> | undefined
  const using = async <T>(doing: string, work: (connection: Connection) => Promise<T>): Promise<T> => {
    try {
      return await work(await (opened ??= openClient(options)))
    } catch (error) {
      throw explained(doing, options, error)
    }
  }
  const address = (key: string) => ({ Bucket, Key: before + checked(key, before) })
  return {
    async upload(file, key, signal) {
      signal.throwIfAborted()
      const at = address(key)
      await using(`write ${key}`, (connection) => send(connection, at, file, signal))
    },
    async download(key, write, signal) {
      signal.throwIfAborted()
      const at = address(key)
      await using(`read ${key}`, (connection) => fetchTo(connection, at, write, signal))
    },
    async remove(key) {
      const at = address(key)
      await using(`remove ${key}`, ({ sdk, client }) => client.send(new sdk.DeleteObjectCommand(at)))
    },
    async stat(key) {
      const at = address(key)
      return await using(`read ${key}`, async (connection) => {
        const found = await head(connection, at)
        return found === undefined ? undefined : { key, ...found }
      })
    },
    async list(prefix, limit) {
      const wanted = { Bucket, Prefix: before + prefix.replace(/^\/+/, '') }
      const found = await using(`list ${prefix}`, (connection) => pages(connection, wanted, limit, page))
      return found.map((file) => ({ ...file, key: file.key.slice(before.length) }))
    },
    async presign(key, minutes) {
      if (!(minutes > 0 && minutes <= MAX_PRESIGN_MINUTES))
        throw new Error(`an address can be valid for up to ${MAX_PRESIGN_MINUTES} minutes, not ${minutes}`)
      const at = address(key)
      return await using(`sign an address for ${key}`, async ({ sdk, client }) => {
        const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
        const expiresIn = Math.ceil(minutes * 60)
        return await getSignedUrl(client, new sdk.GetObjectCommand(at), { expiresIn })
      })
    },
    async [Symbol.asyncDispose]() {
      const connection = await opened?.catch(() => undefined)
      connection?.client.destroy()
    },
  }
}

interface ObjectAddress {
  readonly Bucket: string
  readonly Key: string
}

/** Keys become part of URLs, where `..` could escape the prefix. */
const checked = (key: string, before: string): string => {
  const fits = Buffer.byteLength(before + key) <= MAX_KEY_BYTES
  const plain = !/\p{Cc}/u.test(key) && !key.split('/').some((part) => part === '.' || part === '..')
  if (key !== '' && !key.startsWith('/') && fits && plain) return key
  throw new Error(
    `not a key of the object store: ${JSON.stringify(key.slice(0, 200))}; keys have up to ${MAX_KEY_BYTES - before.length} bytes, no parts "." or ".." and no control characters`,
  )
}

const send = async (
  { client }: Connection,
  address: ObjectAddress,
  file: FileHandle,
  signal: AbortSignal,
): Promise<void> => {
  const { Upload } = await import('@aws-sdk/lib-storage')
  // The library derives the number of parts from the range of the stream.
  const { size } = await file.stat()
  const body =
    size === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: size - 1, autoClose: false })
  const upload = new Upload({ client, params: { ...address, Body: body }, ...UPLOAD })
  // A failing source makes the upload delete its parts; `upload.abort()` would leave them in the bucket.
  using _listener = addAbortListener(signal, () => body.destroy(new Error('aborted')))
  try {
    // The signal may have aborted meanwhile.
    signal.throwIfAborted()
    await upload.done()
    signal.throwIfAborted()
  } finally {
    body.destroy()
  }
}

const fetchTo = async (
  { sdk, client }: Connection,
  address: ObjectAddress,
  write: (content: Readable) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const answer = await client.send(new sdk.GetObjectCommand(address), { abortSignal: signal })
  const body = answer.Body instanceof Readable ? answer.Body : Readable.from([])
  try {
    if ((answer.ContentLength ?? 0) > MAX_DOWNLOAD_BYTES)
      throw new Error(`it is larger than ${MAX_DOWNLOAD_BYTES} bytes`)
    await write(body)
  } finally {
    body.destroy()
  }
}

const head = async (
  { sdk, client }: Connection,
  address: ObjectAddress,
): Promise<Omit<NamedObject, 'key'> | undefined> => {
  try {
    const { ContentLength, LastModified } = await client.send(new sdk.HeadObjectCommand(address))
    return { size: ContentLength ?? 0, modified: LastModified?.toISOString() ?? '' }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const pages = async (
  { sdk, client }: Connection,
  wanted: { Bucket: string; Prefix: string },
  limit: number,
  page: number,
): Promise<NamedObject[]> => {
  const found: NamedObject[] = []
  let after: string | undefined
  do {
    const MaxKeys = Math.min(page, limit - found.length)
    const answer = await client.send(
      new sdk.ListObjectsV2Command({ ...wanted, MaxKeys, ContinuationToken: after }),
    )
    for (const { Key = '', Size = 0, LastModified } of answer.Contents ?? [])
      found.push({ key: Key, size: Size, modified: LastModified?.toISOString() ?? '' })
    after = answer.IsTruncated === true ? answer.NextContinuationToken : undefined
  } while (after !== undefined && found.length < limit)
  return found
}
