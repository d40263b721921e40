import { asList, asText, at } from '../../fields.ts'
import { linesOf, startOf, unreadable, type Imported } from '../read-body.ts'
import { jsonBesideLog } from '../json/json-report.ts'
import { xmlParts } from '../read-xml.ts'
import { asset, hostPort, unusable } from '../records.ts'
import { serverTechnology } from '../technologies.ts'

/** One record of masscan: a port that is open, or, with a name, what its service sent. */
interface MasscanRecord {
  readonly ip: string
  readonly port: string
  readonly protocol: string
  readonly name: string
  readonly banner: string
  readonly raw: unknown
}

/** Most hosts whose ports are put together in a record of the host; further ones only have records of their ports. */
const MAX_HOSTS = 100_000

/** Puts the records of masscan together, which follow each other in no order: a host has all its ports, a port its banners. */
export class MasscanHosts {
  readonly #ports = new Map<string, Set<string>>()
  readonly #banners = new Map<string, MasscanRecord[]>()

  add(record: MasscanRecord): Imported[] {
    const port = portName(record)
    const known = this.#ports.get(record.ip)
    if (known !== undefined) known.add(port)
    else if (this.#ports.size < MAX_HOSTS) this.#ports.set(record.ip, new Set([port]))
    if (record.name === '' || this.#banners.size >= MAX_HOSTS) return [portAsset([record])]
    const place = hostPort(record.ip, port)
    this.#banners.set(place, [...(this.#banners.get(place) ?? []), record])
    return []
  }

  *end(): Generator<Imported> {
    for (const banners of this.#banners.values()) yield portAsset(banners)
    for (const [ip, ports] of this.#ports)
      yield asset({ asset_type: 'ip', asset_value: ip, host_ip: ip, open_ports: [...ports] })
  }
}

const portName = ({ port, protocol }: MasscanRecord): string =>
  protocol === '' || protocol === 'tcp' ? port : `${port}/${protocol}`

/** Names of banners that are a part of what another one describes. */
const DETAIL = /[.]|^(title|html|X509|vuln|ssl.*)$/i

const portAsset = (records: readonly MasscanRecord[]): Imported => {
  const [first] = records
  if (first === undefined) return unusable('a port without records')
  const names = [...new Set(records.map(({ name }) => name).filter((name) => name !== ''))]
  const server = records.find(({ name }) => name === 'http.server')?.banner ?? ''
  const raws = records.map(({ raw }) => raw)
  return asset({
    asset_type: 'port',
    asset_value: hostPort(first.ip, portName(first)),
    host_ip: first.ip,
    open_ports: [portName(first)],
    title: names.find((name) => !DETAIL.test(name)) ?? (server === '' ? (names[0] ?? '') : 'http'),
    technologies: server === '' ? [] : [serverTechnology(server)],
    raw_json_data: JSON.stringify(raws.length === 1 ? raws[0] : raws),
  })
}

/** Reads open ports as assets with the same values as those of nmap, from all forms of reports: -oJ, -oD, -oX, -oL and -oG. */
export async function* masscanAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const { first, rest } = await startOf(body)
  const hosts = new MasscanHosts()
  // Lists begin with `#`, `open` or `banner`, what masscan prints with `Discovered`, `Starting` or `rate`.
  const records =
    first === '<' ? xmlRecords(rest) : /^[#DSrob]$/.test(first) ? textRecords(rest) : jsonRecords(rest)
  for await (const record of records) {
    if ('kind' in record) yield record
    else yield* hosts.add(record)
  }
  yield* hosts.end()
}

const NO_REPORT = 'it is not a report of masscan'

type Found = AsyncGenerator<MasscanRecord | Imported>

/** Versions before 1.3 end the list with a comma or with `{finished: 1}`. */
const END = /^\{?\s*"?finished"?\s*:/

async function* jsonRecords(body: AsyncIterable<Uint8Array>): Found {
  for await (const part of jsonBesideLog(body, '', '[]')) {
    if (part.kind === 'problem') {
      if (!END.test(part.text)) yield unusable(part.reason, part.line)
      continue
    }
    if (part.at === '' && Object.keys(part.value ?? {}).length === 0 && !Array.isArray(part.value))
      throw unreadable(NO_REPORT)
    const row = part.value
    if (Array.isArray(row) || at(row, 'finished') !== undefined) continue
    const ip = asText(at(row, 'ip'))
    // A line of -oD is one port.
    const ports = at(row, 'rec_type') === undefined ? asList(at(row, 'ports')) : [row]
    if (ip === '' || ports.length === 0)
      yield unusable('it is not a record of masscan: ip or ports is missing', part.line)
    for (const port of ip === '' ? [] : ports) {
      const number = asText(at(port, 'port'))
      const service =
        at(port, 'service') ?? (asText(at(port, 'rec_type')) === 'banner' ? at(port, 'data') : undefined)
      const status = asText(at(port, 'status') ?? at(port, 'data', 'status'))
      if (!/^\d+$/.test(number)) yield unusable('the port is not a number', part.line)
      else if (service !== undefined || status === 'open')
        yield {
          ip,
          port: number,
          protocol: asText(at(port, 'proto')),
          name: asText(at(service, 'name') ?? at(service, 'service_name')),
          banner: asText(at(service, 'banner')),
          raw: port,
        }
    }
  }
}

async function* xmlRecords(body: AsyncIterable<Uint8Array>): Found {
  let isReport = false
  for await (const part of xmlParts(body, 'nmaprun', 'nmaprun.host')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'nmaprun') isReport = true
    else yield* masscanHost(part.value)
  }
  if (!isReport) throw unreadable(NO_REPORT)
}

/** The records of an element `host` of -oX, which has the form of nmap. */
export function* masscanHost(host: unknown): Generator<MasscanRecord> {
  const ip = asText(at(asList(at(host, 'address'))[0], 'addr'))
  for (const port of asList(at(host, 'ports', 'port'))) {
    const service = at(port, 'service')
    if (ip === '' || (service === undefined && asText(at(port, 'state', 'state')) !== 'open')) continue
    yield {
      ip,
      port: asText(at(port, 'portid')),
      protocol: asText(at(port, 'protocol')),
      name: asText(at(service, 'name')),
      banner: asText(at(service, 'banner')),
      raw: port,
    }
  }
}

/** -oL, -oG, and what masscan prints to the terminal, over the lines of the progress. */
const LINES = [
  /^open (?<protocol>\S+) (?<port>\d+) (?<ip>\S+) \d+$/,
  /^banner (?<protocol>\S+) (?<port>\d+) (?<ip>\S+) \d+ (?<name>\S+) ?(?<banner>.*)$/,
  /Host: (?<ip>\S+) .*Ports: (?<port>\d+)\/open\/(?<protocol>\S+?)\//,
  /Discovered open port (?<port>\d+)\/(?<protocol>\S+) on (?<ip>\S+)/,
]

/** The first and the last line of -oL and -oG. */
const LIST_START = /^#masscan$|^# Masscan .* initiated\b/
const LIST_END = /^# (?:end$|Masscan done)/

async function* textRecords(body: AsyncIterable<Uint8Array>): Found {
  let number = 0
  let isOpen = false
  let isReport = false
  for await (const raw of linesOf(body)) {
    const line = raw.trimEnd()
    number += 1
    const isStart = LIST_START.test(line)
    isOpen = isStart || (isOpen && !LIST_END.test(line))
    isReport ||= isStart || !line.startsWith('#')
    const found = LINES.map((pattern) => pattern.exec(line)?.groups).find((groups) => groups !== undefined)
    if (found !== undefined)
      yield { ip: '', port: '', protocol: '', name: '', banner: '', ...found, raw: line }
    else if (!/^(#|closed )|^\s*rate:|^(Starting masscan|Initiating|Scanning) /.test(line))
      yield unusable('it is not a line of masscan (-oL)', number)
  }
  if (number > 0 && !isReport) throw unreadable(NO_REPORT)
  if (isOpen) yield unusable('the list has no last line: masscan was stopped', number)
}
