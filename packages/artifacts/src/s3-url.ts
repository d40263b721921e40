import { closest } from '@scanfarm/contracts'
import type { S3Options } from './s3-client.ts'

/** What the URL of a bucket looks like. */
export const S3_FORM = 's3://KEY:SECRET@BUCKET/PREFIX?region=…&endpoint=…&ca=…'
const DEFAULT_REGION = 'us-east-1'
const PARAMS = ['region', 'endpoint', 'ca'] as const
/** Keys of AWS contain `/` and `+`, which stand for themselves here. */
const URL_PARTS =
  /^s3:\/\/(?:(?<id>[^:/@?\s]+):(?<secret>[^@?\s]+)@)?(?<bucket>[^:/@?\s]+)(?:\/(?<prefix>[^?\s]*))?(?:\?(?<query>\S*))?$/

/**
 * The bucket that a URL names. Throws an error that says what the URL must be, and does not contain it. Services other
 * than AWS get the bucket in the path: not all have a host name for each bucket.
 */
export const readS3Url = (url: string): S3Options => {
  const { id, secret, bucket = '', prefix = '', query = '' } = URL_PARTS.exec(url)?.groups ?? {}
  if (bucket === '')
    throw new Error(
      `must be like ${S3_FORM}, with %40 for @ and %3F for ? in SECRET; all but BUCKET is optional`,
    )
  const params = new URLSearchParams(query)
  for (const name of params.keys())
    if (!PARAMS.some((known) => known === name))
      throw new Error(
        `must not have the parameter ${name}: did you mean ${closest(name, PARAMS) ?? PARAMS.join(', ')}?`,
      )
  const endpoint = params.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\/[^/?#@\s]+\/?$/.test(endpoint))
    throw new Error('must have an endpoint like https://s3.example.com:9000')
  const ca = params.get('ca') ?? undefined
  if (ca !== undefined && !ca.startsWith('/')) throw new Error('must have the absolute path of a file as ca')
  return {
    bucket,
    prefix: decoded(prefix),
    region: params.get('region') ?? DEFAULT_REGION,
    endpoint,
    ca,
    credentials:
      id === undefined || secret === undefined
        ? undefined
        : { accessKeyId: decoded(id), secretAccessKey: decoded(secret) },
    forcePathStyle: endpoint !== undefined,
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('must have %25 for % in KEY, SECRET and PREFIX')
  }
}
