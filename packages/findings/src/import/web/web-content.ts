import type { Unknown } from '../../fields.ts'
import { spelled } from '../paths.ts'
import type { Imported } from '../read-body.ts'
import { asset, unusable } from '../records.ts'

/** A path that a web server answers, found by a word list. */
export const webContent = (
  url: string,
  row: { status: unknown; contentType?: unknown; raw: Unknown },
  line: number,
): Imported =>
  URL.canParse(url)
    ? asset(
        {
          asset_type: 'content',
          asset_value: spelled(url),
          url: spelled(url),
          scheme: new URL(url).protocol.slice(0, -1),
          status_code: row.status,
          content_type: row.contentType,
          // With the names that the API reads.
          raw_json_data: JSON.stringify(row.raw),
        },
        line,
      )
    : unusable(`${JSON.stringify(url)} is not a URL`, line)
