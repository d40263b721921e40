import { asText, at, isRecord } from '../fields.ts'
import { textOf, unreadable, type Imported } from './read-body.ts'
import { jsonDocuments } from './read-json.ts'
import { asset, ERROR } from './records.ts'

/** Reads the URLs that ffuf found as assets of the type `content`. */
export async function* ffufAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  for (const report of jsonDocuments(await textOf(body))) {
    const results = at(report, 'results')
    // Written instead of a list if there are no results.
    if (results === null) continue
    if (!Array.isArray(results) || !isRecord(at(report, 'config')))
      throw unreadable('it is not JSON of ffuf (-of json)')
    const method = asText(at(report, 'config', 'method'))
    for (const result of results) yield content(result, method)
  }
}

const content = (result: unknown, method: string): Imported => {
  const url = asText(at(result, 'url'))
  if (!isRecord(result) || !URL.canParse(url)) return ERROR
  const { length, words, lines, redirectlocation: location } = result
  return asset({
    asset_type: 'content',
    asset_value: url,
    url,
    scheme: new URL(url).protocol.slice(0, -1),
    status_code: result['status'],
    content_type: result['content-type'],
    // With the names that the API reads.
    raw_json_data: JSON.stringify({
      method,
      content_length: length,
      words,
      lines,
      location,
      input: result['input'],
    }),
  })
}
