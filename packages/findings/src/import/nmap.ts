import { XMLParser } from 'fast-xml-parser'
import { assetOf, findingOf } from '../content.ts'
import { asList, asText, at } from '../fields.ts'
import { textOf, type Imported, unreadable } from './read-body.ts'

/**
 * Reads hosts that are up and their open ports as assets, and vulnerabilities that scripts report as findings.
 * `db_import_port_assets` creates assets with the same values.
 */
export async function* nmapFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const report = parse(await textOf(body))
  if (at(report, 'nmaprun') === undefined) throw unreadable('it is not XML of nmap (-oX)')
  for (const host of asList(at(report, 'nmaprun', 'host'))) yield* hostRecords(host)
}

const parse = (text: string): unknown => {
  // Nmap declares no entities; a file that does is malicious.
  if (text.includes('<!ENTITY')) throw unreadable('it declares XML entities')
  try {
    return new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: '',
      parseAttributeValue: false,
      parseTagValue: false,
      // Line breaks in attributes are written as `&#xa;`.
      htmlEntities: true,
    }).parse(text, true)
  } catch (error) {
    throw unreadable(Error.isError(error) ? error.message : 'it is not valid XML', 'invalid_input', error)
  }
}

function* hostRecords(host: unknown): Generator<Imported> {
  const address = asList(at(host, 'address')).find((one) => asText(at(one, 'addrtype')) !== 'mac')
  const ip = asText(at(address, 'addr'))
  const name = asText(at(asList(at(host, 'hostnames', 'hostname'))[0], 'name')) || ip
  if (name === '' || asText(at(host, 'status', 'state')) === 'down') return
  const open = asList(at(host, 'ports', 'port')).filter(
    (port) => asText(at(port, 'state', 'state')) === 'open',
  )
  const os = likeliest(asList(at(host, 'os', 'osmatch')))
  yield asset({
    asset_type: 'ip',
    asset_value: name,
    host_ip: ip,
    open_ports: open.map(portName),
    technologies: os,
  })
  for (const script of asList(at(host, 'hostscript', 'script'))) yield* scriptRecords(script, name)
  for (const port of open) {
    const value = `${name.includes(':') ? `[${name}]` : name}:${portName(port)}`
    yield portRecord(port, value, ip, os)
    for (const script of asList(at(port, 'script'))) yield* scriptRecords(script, value)
  }
}

/** The port number; with the protocol unless it is TCP. */
const portName = (port: unknown): string => {
  const protocol = asText(at(port, 'protocol'))
  const number = asText(at(port, 'portid'))
  return protocol === '' || protocol === 'tcp' ? number : `${number}/${protocol}`
}

/** As printed by nmap: `ssl/http` for HTTP over TLS. */
const serviceName = (service: unknown): string => {
  const tunnel = asText(at(service, 'tunnel'))
  const name = asText(at(service, 'name'))
  return tunnel === '' || name.startsWith(`${tunnel}/`) ? name : `${tunnel}/${name}`
}

/** The name of the best matching operating system, if any. */
const likeliest = (matches: readonly unknown[]): string[] => {
  const [best] = matches.toSorted((a, b) => Number(at(b, 'accuracy')) - Number(at(a, 'accuracy')))
  return [asText(at(best, 'name'))].filter((name) => name !== '')
}

const asset = (row: Readonly<Record<string, unknown>>): Imported => {
  const content = assetOf(row)
  return content === undefined ? { kind: 'error' } : { kind: 'asset', content }
}

const portRecord = (port: unknown, value: string, ip: string, os: readonly string[]): Imported => {
  const service = at(port, 'service')
  const words = [serviceName(service), ...['product', 'version'].map((key) => asText(at(service, key)))]
  return asset({
    asset_type: 'port',
    asset_value: value,
    host_ip: ip,
    open_ports: [portName(port)],
    title: words.filter((word) => word !== '').join(' '),
    technologies: [...words.slice(1, 2).filter((word) => word !== ''), ...os],
    raw_json_data: JSON.stringify(port),
  })
}

const CVE = /CVE-\d{4}-\d{4,7}/
const VULNERABLE = /State:\s*(LIKELY )?VULNERABLE/

function* scriptRecords(script: unknown, place: string): Generator<Imported> {
  const output = asText(at(script, 'output'))
  const state = VULNERABLE.exec(output)
  if (state === null) return
  const id = asText(at(script, 'id'))
  const content = findingOf({
    vuln_info: CVE.exec(output)?.[0] ?? id,
    vuln_title: /VULNERABLE:\s*\n\s*([^\n]+)/.exec(output)?.[1]?.trim() ?? id,
    vuln_desc: output.trim(),
    severity: /Risk factor:\s*(\w+)/i.exec(output)?.[1] ?? 'medium',
    confidence: state[1] === undefined ? 'Firm' : 'Tentative',
    asset_type: 'network',
    asset_value: place,
    tags: ['nmap', id],
    raw_vuln_json: JSON.stringify(script),
  })
  if (content !== undefined) yield { kind: 'vulnerability', content }
}
