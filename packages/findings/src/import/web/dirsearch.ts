import { asText, at, isRecord, isThere } from '../../fields.ts'
import { jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { unusable } from '../records.ts'
import { webContent } from './web-content.ts'

const PATTERNS = ['', 'results.[]', '*.[]']

/** Reads JSON of dirsearch; versions before 0.4.3 list `{"http://host/": [{"path", …}]}`. */
export async function* dirsearchAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const parts = jsonReport(body, ({ value }) => isRecord(value), ...PATTERNS)
  for await (const part of parts) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    if (part.at === '') continue
    if (part.path[0] === 'results' && !isThere(at(part.value, 'url'))) {
      // `{"results": [{"http://host/": […]}]}` of 0.4.2
      for (const [host, found] of Object.entries(isRecord(part.value) ? part.value : {}))
        if (Array.isArray(found)) for (const one of found) yield record(one, host, part.line)
    } else yield record(part.value, part.path[0] === 'results' ? '' : (part.path[0] ?? ''), part.line)
  }
}

const record = (one: unknown, host: string, line: number): Imported => {
  const path = asText(at(one, 'path'))
  const url = asText(at(one, 'url')) || (URL.canParse(path, host) ? new URL(path, host).href : path)
  return webContent(
    url,
    {
      status: at(one, 'status'),
      contentType: at(one, 'contentType') ?? at(one, 'content-type'),
      raw: {
        content_length: at(one, 'contentLength') ?? at(one, 'content-length'),
        location: asText(at(one, 'redirect')),
      },
    },
    line,
  )
}
