import type { S3Client } from '@aws-sdk/client-s3'

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
export const UPLOAD = { partSize: 8 * 1024 * 1024, queueSize: 2, leavePartsOnError: false } as const
const CONNECT_TIMEOUT_MS = 5_000
const SILENCE_TIMEOUT_MS = 60_000
const MAX_ATTEMPTS = 4

type Sdk = typeof import('@aws-sdk/client-s3')

export interface Connection {
  readonly sdk: Sdk
  readonly client: S3Client
}

/** Loads the SDK only now: processes that never use S3 never pay for it. */
export const openClient = async (options: S3Options): Promise<Connection> => {
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

export const statusOf = (error: unknown): number => {
  if (!Error.isError(error) || !('$metadata' in error)) return 0
  const metadata: unknown = error.$metadata
  const status = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
  return status ? Number(metadata.httpStatusCode) : 0
}

/** A missing bucket is not a missing object, though both are 404; HEAD tells no name of the error. */
export const isMissing = (error: unknown): boolean =>
  Error.isError(error) && ['NoSuchKey', 'NotFound'].includes(error.name)

export const explained = (doing: string, options: S3Options, error: unknown): Error => {
  const where = `S3 bucket ${options.bucket}${options.endpoint === undefined ? '' : ` at ${options.endpoint}`}`
  const reason = Error.isError(error) ? `${error.name}: ${error.message}` : String(error)
  return new Error(
    `cannot ${doing} in the ${where} (${reason}): check bucket, region, endpoint and credentials`,
    { cause: error },
  )
}
