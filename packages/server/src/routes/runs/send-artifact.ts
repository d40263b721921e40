import type { IncomingHttpHeaders } from 'node:http'
import { AppError, type ArtifactStore, type ContentType } from '@scanfarm/contracts'
import type { StoredArtifact } from '@scanfarm/store'
import { bytes, nothing, type Answer } from '../../http/answer.ts'
import { attachment } from '../../http/content-disposition.ts'
import { namesTag, rangeOf } from '../../http/range.ts'

/** Whatever could act in a browser is sent as plain bytes or plain text. */
const MEDIA: Readonly<Record<ContentType, string>> = {
  json: 'application/json; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  log: 'text/plain; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  pdf: 'application/pdf',
  png: 'image/png',
  zip: 'application/zip',
  folder: 'application/x-tar',
  unknown: 'application/octet-stream',
}

const SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'"

/** What `sendArtifact` may answer. */
export const ARTIFACT_RESPONSES = {
  200: { media: ['*/*'], description: 'The whole content' },
  206: { media: ['*/*'], description: 'The part that `Range` asks for' },
  304: { media: [], description: 'Not changed' },
} as const

/** Bytes of an artifact, always as an attachment: they may be hostile. */
export async function sendArtifact(
  artifacts: ArtifactStore,
  artifact: Pick<StoredArtifact, 'store_key' | 'sha256' | 'content_type' | 'name'>,
  { 'if-none-match': known, 'if-range': ifRange, range: wanted }: IncomingHttpHeaders,
): Promise<Answer> {
  const tag = `"${artifact.sha256}"`
  if (namesTag(known, tag)) return nothing(304, { ETag: tag })
  const size = await artifacts.size(artifact.store_key)
  const range = ifRange === undefined || ifRange === tag ? rangeOf(wanted, size ?? 0) : undefined
  const content = await artifacts.get(artifact.store_key, range)
  if (size === undefined || content === undefined)
    throw new AppError('not_found', 'the content of this artifact is no longer kept')
  return bytes(range === undefined ? 200 : 206, content.body, {
    'Content-Type': MEDIA[artifact.content_type],
    'Content-Length': range === undefined ? size : range.end - range.start + 1,
    ...(range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
    'Content-Disposition': attachment(artifact.name),
    'Content-Security-Policy': SANDBOX,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    ETag: tag,
  })
}
