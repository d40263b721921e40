import type { Confidence } from '@scanfarm/contracts'
import { asList, asText, at } from '../fields.ts'
import { hostAnswers, namesOf } from './nmap-answers.ts'
import { enumWeaknesses, scriptWeakness, serviceWeakness, type Weakness } from './nmap-weaknesses.ts'
import { type Imported, unreadable } from './read-body.ts'
import { xmlParts } from './read-xml.ts'
import { MasscanHosts, masscanHost } from './masscan.ts'
import { asset, failed, finding, hostPort, unusable } from './records.ts'
import { productTechnology } from './technologies.ts'

/**
 * Reads hosts that are up and their open ports as assets, and what scripts report as vulnerable, or what is a weakness by
 * itself, as findings.
 * `db_import_port_assets` creates assets with the same values.
 */
export async function* nmapFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let time: Date | undefined
  let masscan: MasscanHosts | undefined
  for await (const part of xmlParts(body, 'nmaprun', 'nmaprun.host', 'nmaprun.runstats')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'nmaprun') {
      time = new Date(Number(at(part.value, 'start')) * 1000)
      // masscan writes the same elements, but one host for each port.
      if (asText(at(part.value, 'scanner')) === 'masscan') masscan ??= new MasscanHosts()
    } else if (part.at === 'nmaprun.runstats') yield* failureOf(part.value)
    else if (masscan === undefined) yield* hostRecords(part.value, time ?? new Date())
    else for (const record of masscanHost(part.value)) yield* masscan.add(record)
  }
  if (time === undefined) throw unreadable('it is not XML of nmap (-oX)')
  if (masscan !== undefined) yield* masscan.end()
}

/** nmap also succeeds when no name could be resolved, or no host answered. */
function* failureOf(stats: unknown): Generator<Imported> {
  const finished = at(stats, 'finished')
  const [up, total] = ['up', 'total'].map((name) => asText(at(stats, 'hosts', name)))
  if (asText(at(finished, 'exit')) === 'error')
    yield failed(asText(at(finished, 'errormsg')) || 'nmap failed')
  else if (total === '0') yield failed('nmap scanned no host: none could be resolved')
  else if (up === '0') yield failed('no host answered')
}

function* hostRecords(host: unknown, time: Date): Generator<Imported> {
  const address = asList(at(host, 'address')).find((one) => asText(at(one, 'addrtype')) !== 'mac')
  const ip = asText(at(address, 'addr'))
  const { name, reverse } = namesOf(host)
  const place = name || ip
  if (place === '' || asText(at(host, 'status', 'state')) === 'down') return
  if (hostAnswers(host))
    for (const one of new Set([place, ip])) if (one !== '') yield { kind: 'reached', host: one }
  const open = asList(at(host, 'ports', 'port')).filter(
    (port) => asText(at(port, 'state', 'state')) === 'open',
  )
  const os = likeliest(asList(at(host, 'os', 'osmatch')))
  yield asset({
    asset_type: 'ip',
    asset_value: place,
    host_ip: ip,
    open_ports: open.map(portName),
    technologies: os,
    dns_records: reverse.map((one) => `PTR ${one}`),
  })
  for (const script of asList(at(host, 'hostscript', 'script'))) yield* scriptRecords(script, place, time)
  for (const port of open) {
    const value = hostPort(place, portName(port))
    yield portRecord(port, value, ip, os)
    yield* serviceRecords(port, value)
    for (const script of asList(at(port, 'script'))) {
      yield* scriptRecords(script, value, time)
      if (asText(at(script, 'id')) === 'http-enum') yield* enumRecords(script, urlOf(port, value))
    }
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

const portRecord = (port: unknown, value: string, ip: string, os: readonly string[]): Imported => {
  const service = at(port, 'service')
  // A name by the port number alone is a guess.
  const guess = asText(at(service, 'method')) === 'table' ? '?' : ''
  const [product = '', version = ''] = ['product', 'version'].map((key) => asText(at(service, key)))
  const words = [serviceName(service) + guess, product, version]
  return asset({
    asset_type: 'port',
    asset_value: value,
    host_ip: ip,
    open_ports: [portName(port)],
    title: words.filter((word) => word !== '').join(' '),
    technologies: [productTechnology(product, version), ...os],
    raw_json_data: JSON.stringify(port),
  })
}

const CVE = /CVE-\d{4}-\d{4,7}/
const VULNERABLE = /State:\s*(LIKELY )?VULNERABLE/

function* scriptRecords(script: unknown, place: string, time: Date): Generator<Imported> {
  const output = asText(at(script, 'output'))
  const id = asText(at(script, 'id'))
  const raw = JSON.stringify(script)
  const state = VULNERABLE.exec(output)
  if (state === null) {
    const weakness = scriptWeakness(script, time)
    if (weakness !== undefined) yield weaknessRecord(weakness, { id, place, output, raw })
    return
  }
  yield finding({
    vuln_info: CVE.exec(output)?.[0] ?? id,
    vuln_title: /VULNERABLE:\s*\n\s*([^\n]+)/.exec(output)?.[1]?.trim() ?? id,
    vuln_desc: output.trim(),
    severity: /Risk factor:\s*(\w+)/i.exec(output)?.[1] ?? 'medium',
    confidence: state[1] === undefined ? 'Firm' : 'Tentative',
    asset_type: 'network',
    asset_value: place,
    tags: ['nmap', id],
    raw_vuln_json: raw,
  })
}

function* serviceRecords(port: unknown, place: string): Generator<Imported> {
  const service = at(port, 'service')
  const weakness = serviceWeakness(service)
  if (weakness === undefined) return
  yield weaknessRecord(weakness, {
    id: `service-${asText(at(service, 'name'))}`,
    place,
    output: serviceName(service),
    // Without a response nmap names a service by the number of its port.
    confidence: asText(at(service, 'method')) === 'probed' ? 'Firm' : 'Tentative',
    raw: JSON.stringify(service),
  })
}

/** One finding for each path, as a web page. */
function* enumRecords(script: unknown, url: string): Generator<Imported> {
  for (const { path, text, weakness } of enumWeaknesses(asText(at(script, 'output'))))
    yield weaknessRecord(weakness, {
      id: CVE.exec(text)?.[0] ?? 'http-enum',
      type: 'web',
      place: `${url}${path}`,
      output: `${path}: ${text}`,
      confidence: /^Possible|Potential/i.test(text) ? 'Tentative' : 'Firm',
      raw: '',
    })
}

const urlOf = (port: unknown, place: string): string =>
  `${/ssl|https/.test(serviceName(at(port, 'service'))) ? 'https' : 'http'}://${place}`

interface Proof {
  readonly id: string
  readonly type?: string
  readonly place: string
  readonly output: string
  readonly confidence?: Confidence
  readonly raw: string
}

const weaknessRecord = (
  { severity, title, why }: Weakness,
  { id, type = 'network', place, output, confidence = 'Firm', raw }: Proof,
): Imported =>
  finding({
    vuln_info: id,
    vuln_title: title,
    vuln_desc: `${why}\n\n${output.trim()}`,
    severity,
    confidence,
    asset_type: type,
    asset_value: place,
    tags: ['nmap', id],
    raw_vuln_json: raw,
  })
