import { asText, at, isRecord } from '../../fields.ts'
import { isLogLine, notOfFormat } from '../json/json-report.ts'
import { NO_JSON } from '../json/json-value.ts'
import { linesOf, startOf, type Imported } from '../read-body.ts'
import { jsonParts } from '../json/read-json.ts'
import { failed, unusable } from '../records.ts'
import { webContent } from './web-content.ts'

const RESULTS = 'results.[]'
/** Fields of a result that is one line (`-json`). */
const FIELDS = 'input position url host status content-type length words lines redirectlocation'.split(' ')
const PATTERNS = ['', 'commandline', 'config', RESULTS, ...FIELDS]

/** Reads the URLs that ffuf found as assets of the type `content`: `-of json`, `-of ejson`, and what `-json` prints. */
export async function* ffufAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const { first, rest } = await startOf(body)
  const screen = new Screen()
  let command = ''
  // `-json` without results prints nothing.
  let isReport = first === ''
  let [line, fields]: [number, Record<string, unknown>] = [0, {}]
  const printed = function* (): Generator<Imported> {
    if ('position' in fields) yield content(fields, undefined, line)
    fields = {}
  }
  for await (const part of jsonParts(/^\{?$/.test(first) ? rest : screen.json(rest), ...PATTERNS)) {
    if (part.kind === 'problem') {
      if (!isLogLine(part)) yield unusable(part.reason, part.line)
    } else if (part.at === '') {
      yield* printed()
      line = part.line
    } else if (FIELDS.includes(part.at)) fields[part.at] = part.value
    else if (part.at === RESULTS) yield content(part.value, command, part.line)
    else {
      isReport = true
      if (part.at === 'commandline') command = asText(part.value)
    }
    isReport ||= 'position' in fields
  }
  yield* printed()
  yield* screen.problems()
  if (!isReport && !screen.isOfFfuf) throw notOfFormat()
}

/** What a terminal shows: results of `-json`, and the log, whose last line is drawn again and again. */
class Screen {
  isOfFfuf = false
  #failed = 0
  readonly #trouble: string[] = []

  /** Lines from the first one of JSON on, without what is only log. */
  async *json(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let isJson = false
    for await (const drawn of linesOf(body))
      for (const part of drawn.split('\r')) {
        const text = part.replaceAll(/\u001b\[\d*[A-Zm]/g, '').trim()
        isJson ||= text.startsWith('{')
        if (!this.#isLog(text, isJson)) yield Buffer.from(`${text}\n`)
      }
  }

  #isLog(text: string, isJson: boolean): boolean {
    const errors = /^:: Progress: .* :: Errors: (\d+) ::/.exec(text)?.[1]
    this.isOfFfuf ||= errors !== undefined
    this.#failed = Math.max(this.#failed, Number(errors ?? 0))
    if (text.startsWith('::')) return true
    const isResult = !text.startsWith('{') && /\[Status: \d+, Size: /.test(text)
    if (isResult) this.#trouble.push('a result as text: run ffuf with -json')
    else if (/^\[WARN\] .*(?:interrupt|running time)/.test(text)) this.#trouble.push(text)
    else if (isJson) return false
    else if (!isLogLine({ kind: 'problem', reason: NO_JSON, line: 0, text })) this.#trouble.push(text)
    return true
  }

  *problems(): Generator<Imported> {
    for (const reason of this.#trouble) yield unusable(reason)
    if (this.#failed > 0) yield failed(`ffuf got no answer to ${this.#failed} of its requests`)
  }
}

/** The method is only written behind the results; ffuf sends POST if it has data and no method. */
const methodOf = (command: string): string =>
  /\s-X[ =]?'?([A-Za-z]+)/.exec(command)?.[1] ?? (/\s-d[ =]/.test(command) ? 'POST' : 'GET')

/** `ejson` and `-json` write inputs as base64, also those that are not text. */
const inputOf = (input: unknown, isEncoded: boolean): unknown => {
  if (!isRecord(input)) return input
  const { FFUFHASH: _, ...words } = input
  if (!isEncoded) return words
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

/** `command` is undefined where nothing names it. */
const content = (result: unknown, command: string | undefined, line: number): Imported =>
  webContent(
    urlOf(result),
    {
      status: at(result, 'status'),
      contentType: at(result, 'content-type'),
      raw: {
        method: command === undefined ? undefined : methodOf(command),
        content_length: at(result, 'length'),
        words: at(result, 'words'),
        lines: at(result, 'lines'),
        location: at(result, 'redirectlocation'),
        input: inputOf(at(result, 'input'), command === undefined || /\s-of[ =]ejson/.test(command)),
      },
    },
    line,
  )
