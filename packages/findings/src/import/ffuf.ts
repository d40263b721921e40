import { asText, at, isRecord } from '../fields.ts'
import { jsonReport } from './json-report.ts'
import type { Imported } from './read-body.ts'
import { unusable } from './records.ts'
import { webContent } from './web-content.ts'

const RESULTS = 'results.[]'
const PATTERNS = ['commandline', 'config', RESULTS]

/** Reads the URLs that ffuf found as assets of the type `content`: `-of json` and `-of ejson`. */
export async function* ffufAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let command = ''
  for await (const part of jsonReport(body, ({ at }) => at !== RESULTS, ...PATTERNS)) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'commandline') command = asText(part.value)
    else if (part.at === RESULTS) yield content(part.value, command, part.line)
  }
}

/** The method is only written behind the results; ffuf sends POST if it has data and no method. */
const methodOf = (command: string): string =>
  /\s-X[ =]?'?([A-Za-z]+)/.exec(command)?.[1] ?? (/\s-d[ =]/.test(command) ? 'POST' : 'GET')

/** `ejson` writes inputs as base64, also those that are not text. */
const inputOf = (input: unknown, command: string): unknown => {
  if (!isRecord(input)) return input
  const { FFUFHASH: _, ...words } = input
  if (!/\s-of[ =]ejson/.test(command)) return words
  return Object.fromEntries(
    Object.entries(words).map(([name, word]) => [name, Buffer.from(asText(word), 'base64').toString('utf8')]),
  )
}

/** Names that were tried as the header `Host` are servers of their own. */
const urlOf = (result: unknown): string => {
  const [text, host] = [asText(at(result, 'url')), asText(at(result, 'host'))]
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (host === '' || host.toLowerCase() === url.host) return text
  url.host = host
  return url.href
}

const content = (result: unknown, command: string, line: number): Imported =>
  webContent(
    urlOf(result),
    {
      status: at(result, 'status'),
      contentType: at(result, 'content-type'),
      raw: {
        method: methodOf(command),
        content_length: at(result, 'length'),
        words: at(result, 'words'),
        lines: at(result, 'lines'),
        location: at(result, 'redirectlocation'),
        input: inputOf(at(result, 'input'), command),
      },
    },
    line,
  )
