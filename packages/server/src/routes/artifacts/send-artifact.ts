import type { IncomingHttpHeaders } from 'node:http'
import { AppError, type ArtifactStore, type ByteRange, type ContentType } from '@scanfarm/contracts'
import type { StoredArtifact } from '@scanfarm/store'
import { attachment, bytes, nothing, type Answer, type Headers } from '../../http/answer.ts'

const TEXT = 'text/plain; charset=utf-8'

/** Types that a browser could execute are sent with a sandbox policy. */
const MEDIA: Readonly<Record<ContentType, string>> = {
  json: 'application/json; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  log: TEXT,
  txt: TEXT,
  pdf: 'application/pdf',
  png: 'image/png',
  zip: 'application/zip',
  folder: 'application/x-tar',
  unknown: 'application/octet-stream',
}

const SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'"

/** A frame of the console may show the content, without scripts and without requests to anywhere. */
const FRAMED = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"

/** Types that can be shown in a frame, also by the end of the name where the content type is unknown. */
const FRAMED_BY_NAME: Readonly<Record<string, string>> = {
  svg: 'image/svg+xml',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  xml: TEXT,
  csv: TEXT,
  conf: TEXT,
}

const framedType = (type: ContentType, name: string): string => {
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const byName = Object.hasOwn(FRAMED_BY_NAME, end) ? FRAMED_BY_NAME[end] : undefined
  if (type === 'html' || type === 'pdf' || type === 'png') return MEDIA[type]
  if (type !== 'unknown' && type !== 'zip' && type !== 'folder') return byName ?? TEXT
  if (byName !== undefined) return byName
  throw new AppError(
    'unsupported_media_type',
    'this artifact cannot be shown: download it, without view=frame',
  )
}

/** The responses of `sendArtifact`. */
export const ARTIFACT_RESPONSES = {
  200: {
    media: ['application/octet-stream'],
    description: 'The whole content, with the media type of the artifact',
  },
  206: {
    media: ['application/octet-stream'],
    description: 'The requested `Range`, with the media type of the artifact',
  },
  304: { media: [], description: 'Not changed' },
} as const

/** Sends an artifact as an attachment, because it may be hostile; with `framed`, for a frame of the console. */
export async function sendArtifact(
  artifacts: ArtifactStore,
  artifact: Pick<StoredArtifact, 'store_key' | 'sha256' | 'content_type' | 'name'>,
  { 'if-none-match': known, 'if-range': ifRange, range: wanted }: IncomingHttpHeaders,
  framed = false,
): Promise<Answer> {
  const form: Headers = framed
    ? {
        'Content-Type': framedType(artifact.content_type, artifact.name),
        'Content-Disposition': 'inline',
        'Content-Security-Policy': FRAMED,
        'X-Frame-Options': 'SAMEORIGIN',
      }
    : {
        'Content-Type': MEDIA[artifact.content_type],
        'Content-Disposition': attachment(artifact.name),
        'Content-Security-Policy': SANDBOX,
      }
  const tag = `"${artifact.sha256}"`
  if (namesTag(known, tag)) return nothing(304, { ...form, ETag: tag })
  const size = await artifacts.size(artifact.store_key)
  const range = ifRange === undefined || ifRange === tag ? rangeOf(wanted, size ?? 0) : undefined
  const content = await artifacts.get(artifact.store_key, range)
  if (size === undefined || content === undefined)
    throw new AppError('not_found', 'the content of this artifact no longer exists')
  return bytes(range === undefined ? 200 : 206, content.body, {
    ...form,
    'Content-Length': range === undefined ? size : range.end - range.start + 1,
    ...(range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    ETag: tag,
  })
}

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/

/**
 * The range of a `Range` header. Undefined for several ranges or another unit: the whole content is sent, as the
 * standard allows. Throws if the range begins after the end.
 */
export const rangeOf = (header: string | undefined, size: number): ByteRange | undefined => {
  const parts = ONE_RANGE.exec(header?.trim() ?? '')
  if (parts === null) return undefined
  const [, from = '', to = ''] = parts
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < start) return undefined
  if (start >= size || (from === '' && Number(to) === 0))
    throw new AppError('range_not_satisfiable', `the file has ${size} bytes`)
  return { start, end }
}

/** Whether an `If-None-Match` or `If-Range` header contains this entity tag. */
export const namesTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag)
