import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import type { S3Client } from '@aws-sdk/client-s3'
import { errorText } from '@scanfarm/platform'

export interface S3Options {
  readonly bucket: string
  /** Prefix of every key, joined by `/`; `""`: none. */
  readonly prefix: string
  readonly region: string
  /** URL of an S3-compatible service; missing: AWS. */
  readonly endpoint?: string
  /** Missing: the credential chain of the SDK (instance role, web identity, environment). */
  readonly credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /** Bucket in the path instead of the host name: most services other than AWS need it. */
  readonly forcePathStyle?: boolean
  /** File with the certificates (PEM) that sign those of the service. */
  readonly ca?: string
}

/** `queueSize` parts are in memory at once. S3 accepts 10,000 parts, so objects can have up to 80 GB. */
export const UPLOAD = { partSize: 8 * 1024 * 1024, queueSize: 2, leavePartsOnError: false } as const
const CONNECT_TIMEOUT_MS = 5_000
const SILENCE_TIMEOUT_MS = 60_000
const MAX_ATTEMPTS = 4

type Sdk = typeof import('@aws-sdk/client-s3')

export interface Connection {
  readonly sdk: Sdk
  readonly client: S3Client
}

const certificates = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: unknown) => {
    throw new Error(`the certificates of the bucket (ca=${file}) cannot be read: ${errorText(error)}`, {
      cause: error,
    })
  })

/** Loads the SDK on demand, for processes that do not use S3. */
export const openClient = async (options: S3Options): Promise<Connection> => {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region: options.region,
    endpoint: options.endpoint,
    credentials: options.credentials,
    forcePathStyle: options.forcePathStyle ?? false,
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: SILENCE_TIMEOUT_MS,
      ...(options.ca === undefined
        ? {}
        : { httpsAgent: new Agent({ ca: await certificates(options.ca), keepAlive: true }) }),
    },
    // Many S3-compatible services do not support trailing checksums; the store has its own SHA-256.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  return { sdk, client }
}

export const statusOf = (error: unknown): number => {
  if (!Error.isError(error) || !('$metadata' in error)) return 0
  const metadata: unknown = error.$metadata
  const status = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
  return status ? Number(metadata.httpStatusCode) : 0
}

/** Whether the object is missing. A missing bucket is also a 404, but with another error name. */
export const isMissing = (error: unknown): boolean =>
  Error.isError(error) && ['NoSuchKey', 'NotFound'].includes(error.name)

export const explained = (doing: string, options: S3Options, error: unknown): Error => {
  const where = `S3 bucket ${options.bucket}${options.endpoint === undefined ? '' : ` at ${options.endpoint}`}`
  const reason = `${Error.isError(error) ? `${error.name}: ` : ''}${errorText(error)}`
  return new Error(
    `cannot ${doing} in the ${where} (${reason}): check bucket, region, endpoint and credentials`,
    { cause: error },
  )
}
