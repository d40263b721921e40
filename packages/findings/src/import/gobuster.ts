import type { Imported } from './read-body.ts'
import { linesOf } from './read-body.ts'
import { failed, unusable } from './records.ts'
import { webContent } from './web-content.ts'

const ESCAPES = /\u001b\[[\d;]*[A-Za-z]/g
const FOUND = /^(\S+)\s+\(Status: (\d+)\)(?: \[Size: (\d+)\])?(?: \[--> (.*)\])?\s*$/
const BASE = /^\[\+\] Url:\s+(\S+)/
/** Lines around the results, and the progress. */
const OTHER =
  /^(=+|\[\+\].*|Gobuster v.*|by OJ Reeves.*|\d{4}\/\d\d\/\d\d .*|(Starting|Progress|Finished).*)$/
const ERROR = /^(?:Error|\[ERROR\]|\[!\])/i

/** Most lines whose host is not known yet. */
const MAX_WAITING = 10_000

/**
 * Reads the text of `gobuster dir`: its output, or a file of `-o`. Lines of a file are only paths unless gobuster ran with
 * `-e`; then a redirect from a folder to the same path with a slash names the host.
 */
export async function* gobusterAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let base = ''
  let number = 0
  const waiting: (readonly [line: number, match: RegExpExecArray])[] = []
  for await (const raw of linesOf(body)) {
    number += 1
    const line = (raw.replaceAll(ESCAPES, '').trimEnd().split('\r').at(-1) ?? '').trim()
    base = BASE.exec(line)?.[1] ?? base
    const match = FOUND.exec(line)
    if (match === null) {
      if (ERROR.test(line)) yield failed(line)
      else if (line !== '' && !OTHER.test(line)) yield unusable('it is not a line of gobuster dir', number)
      continue
    }
    base ||= baseOf(match)
    if (base === '' && match[1]?.startsWith('/') === true && waiting.length < MAX_WAITING)
      waiting.push([number, match])
    else yield record(match, base, number)
  }
  for (const [line, match] of waiting) yield record(match, base, line)
}

const baseOf = ([, path = '', , , location = '']: RegExpExecArray): string =>
  path.startsWith('/') && URL.canParse(location) && location.endsWith(`${path}/`)
    ? location.slice(0, -path.length - 1)
    : ''

const record = (
  [, path = '', status, size, location = '']: RegExpExecArray,
  base: string,
  line: number,
): Imported => {
  if (base === '' && path.startsWith('/'))
    return unusable('the line names no host: run gobuster with -e, or import its output', line)
  const url = path.startsWith('/') ? `${base.replace(/\/+$/, '')}${path}` : path
  return webContent(url, { status, raw: { content_length: Number(size ?? 0), location } }, line)
}
