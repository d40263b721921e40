import { isIP } from 'node:net'
import { linesOf, unreadable, type Imported } from '../read-body.ts'
import { asset, failed, unusable } from '../records.ts'
import { webContent } from './web-content.ts'

const ESCAPES = /\u001b\[[\d;]*[A-Za-z]/g
/** Words of a list may contain spaces. */
const FOUND = /^(\S(?:.*\S)?)\s+\(Status: (\d+)\)(?: \[Size: (\d+)\])?(?: \[--> (.*)\])?\s*$/
/** Of vhost, until 3.6 with `Found:`. */
const SERVER = /^(?:Found: )?([\w.:-]+) Status: (\d+) \[Size: (\d+)\](?: \[--> (.*)\])?$/
/** Of dns: a name and its addresses. */
const NAME = /^(Found: )?([\w-]+(?:\.[\w-]+)+)((?: [\w.:,[\]-]+)*)$/
const BASE = /^\[\+\] Url:\s+(https?:\/\/\S+)/
/** Lines around the results, and the progress. */
const OTHER =
  /^(=+|\[\+\].*|Gobuster v.*|by OJ Reeves.*|\d{4}\/\d\d\/\d\d .*|(Starting|Progress|Finished).*)$/
const ERROR = /^(?:Error|\[ERROR\]|\[!\])/i
const START = /^Gobuster v/
const END = /^(?:\d{4}\/\d\d\/\d\d \S+ )?Finished$/
const STOPPED = 'the output has no "Finished": gobuster was stopped'

/** Most lines whose host is not known yet. */
const MAX_WAITING = 10_000

/**
 * Reads the text of the modes dir, vhost and dns: the output of gobuster, or a file of `-o`. Lines of a file are only paths
 * unless gobuster ran with `-e`; then a redirect from a folder to the same path with a slash names the host.
 */
export async function* gobusterAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let base = ''
  let number = 0
  // What gobuster prints has a heading and an end; a file of `-o` has neither.
  let isOpen = false
  let isReport = false
  const waiting: (readonly [line: number, match: RegExpExecArray])[] = []
  for await (const raw of linesOf(body)) {
    number += 1
    const line = (raw.replaceAll(ESCAPES, '').trimEnd().split('\r').at(-1) ?? '').trim()
    base = BASE.exec(line)?.[1] ?? base
    if (isOpen && START.test(line)) yield unusable(STOPPED, number)
    isOpen = START.test(line) || (isOpen && !END.test(line))
    isReport ||= !OTHER.test(line) || isOpen
    const match = FOUND.exec(withSlash(line)) ?? SERVER.exec(line)
    if (match === null) {
      if (ERROR.test(line)) yield failed(line)
      else if (line !== '' && !OTHER.test(line))
        yield nameRecord(line) ?? unusable('it is not a line of gobuster dir, vhost or dns', number)
      continue
    }
    base ||= baseOf(match)
    if (base === '' && match[1]?.startsWith('/') === true && waiting.length < MAX_WAITING)
      waiting.push([number, match])
    else yield record(match, base, number)
  }
  for (const [line, match] of waiting) yield record(match, base, line)
  if (number > 0 && !isReport) throw unreadable('it is not text of gobuster')
  if (isOpen) yield unusable(STOPPED, number)
}

/** Versions from 3.8.1 on write paths without a slash in front. */
const withSlash = (line: string): string => (/^(?:\/|\S+:\/\/)/.test(line) ? line : `/${line}`)

const baseOf = ([, path = '', , , location = '']: RegExpExecArray): string =>
  path.startsWith('/') && URL.canParse(location) && location.endsWith(`${path}/`)
    ? location.slice(0, -path.length - 1)
    : ''

const record = (
  [text, path = '', status, size, location = '']: RegExpExecArray,
  base: string,
  line: number,
): Imported => {
  if (base === '' && path.startsWith('/'))
    return unusable('the line names no host: run gobuster with -e, or import its output', line)
  const raw = { content_length: Number(size ?? 0), location }
  if (path.startsWith('/')) return webContent(`${base.replace(/\/+$/, '')}${path}`, { status, raw }, line)
  if (FOUND.test(text)) return webContent(path, { status, raw }, line)
  if (base === '') return asset({ asset_type: 'subdomain', asset_value: path }, line)
  const server = new URL('/', base)
  server.host = path
  return webContent(server.href, { status, raw }, line)
}

const nameRecord = (line: string): Imported | undefined => {
  const [, found, name, rest = ''] = NAME.exec(line) ?? []
  const records = rest.split(/[\s,[\]]+/).filter((word) => word !== '' && word !== 'CNAME:')
  const addresses = records.filter((word) => isIP(word) > 0)
  if (name === undefined || (found === undefined && addresses.length === 0)) return undefined
  return asset({
    asset_type: 'subdomain',
    asset_value: name.toLowerCase(),
    host_ip: addresses[0],
    dns_records: records,
  })
}
