import type { Confidence } from '@scanfarm/contracts'
import { asList, asText, at } from '../../fields.ts'
import { multirangeOf, SILENT_HOST, SILENT_PORT } from './nmap-answers.ts'
import { nmapReport, type NmapHost, type NmapPort } from './nmap-report.ts'
import type { Weakness } from './nmap-rules.ts'
import { enumWeaknesses, isFailure, scriptWeakness, serviceWeakness } from './nmap-weaknesses.ts'
import { spelled } from '../paths.ts'
import { type Imported, unreadable } from '../read-body.ts'
import { MasscanHosts, masscanHost } from './masscan.ts'
import { asset, failed, finding, hostPort, unusable } from '../records.ts'
import { productTechnology } from '../technologies.ts'

/**
 * Reads hosts that are up and their open ports as assets, and what scripts report as vulnerable, or what is a weakness by
 * itself, as findings.
 * `db_import_port_assets` creates assets with the same values.
 */
export async function* nmapFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let time: Date | undefined
  let masscan: MasscanHosts | undefined
  let [hosts, silent] = [0, 0]
  const ports = new Map<string, Set<string>>()
  for await (const part of nmapReport(body)) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.kind === 'run') {
      ports.clear()
      time = new Date(Number(at(part.raw, 'start')) * 1000)
      // masscan writes the same elements, but one host for each port.
      if (asText(at(part.raw, 'scanner')) === 'masscan') masscan ??= new MasscanHosts()
    } else if (part.kind === 'skipped')
      yield failed('nmap skipped this target: its name has no address, or it needs -6', {
        host: spelled(part.target),
      })
    else if (part.kind === 'end') {
      yield* failureOf(part.raw, hosts > 0 && hosts === silent)
      hosts = silent = 0
    } else if (masscan === undefined) {
      hosts += 1
      if (isSilent(part.host)) silent += 1
      yield* hostRecords(part.host, time ?? new Date(), ports)
    } else for (const record of masscanHost(part.host.raw)) yield* masscan.add(record)
  }
  if (time === undefined) throw unreadable('it is not XML of nmap')
  if (masscan !== undefined) yield* masscan.end()
}

/** nmap also succeeds when no name could be resolved, or no host answered. */
function* failureOf(stats: unknown, areAllSilent: boolean): Generator<Imported> {
  const finished = at(stats, 'finished')
  const [up, total] = ['up', 'total'].map((name) => asText(at(stats, 'hosts', name)))
  if (asText(at(finished, 'exit')) === 'error')
    yield failed(asText(at(finished, 'errormsg')) || 'nmap failed')
  else if (total === '0') yield failed('nmap scanned no host: none could be resolved')
  else if (up === '0' || areAllSilent) yield failed('no host answered')
}

/** Most names whose ports are put together. */
const MAX_NAMES = 10_000

/** `ports`: those of names, which may have several addresses (`--resolve-all`), a host for each. */
function* hostRecords(host: NmapHost, time: Date, ports: Map<string, Set<string>>): Generator<Imported> {
  const { ip, os } = host
  const place = host.name || ip
  if (place === '' || host.isDown) return
  for (const one of new Set([place, ip])) if (one !== '') yield* answerOf(one, host)
  const open = host.ports.filter(({ state }) => state === 'open')
  if (isSilent(host)) return
  const names = (ports.get(host.name) ?? new Set()).union(new Set(open.map(portName)))
  if (host.name !== '' && (ports.has(host.name) || ports.size < MAX_NAMES)) ports.set(host.name, names)
  yield asset({
    asset_type: 'ip',
    asset_value: place,
    host_ip: ip,
    open_ports: [...names],
    technologies: os,
    dns_records: host.reverse.map((one) => `PTR ${one}`),
  })
  for (const script of asList(at(host.raw, 'hostscript', 'script'))) yield* scriptRecords(script, place, time)
  for (const port of open) {
    const value = hostPort(place, portName(port))
    yield portRecord(port, value, host)
    yield* serviceRecords(port, value)
    for (const script of asList(at(port.raw, 'script'))) {
      yield* scriptRecords(script, value, time)
      if (asText(at(script, 'id')) === 'http-enum') yield* enumRecords(script, urlOf(port, value))
    }
  }
}

/** With -Pn every host is up. */
const isSilent = ({ answers, ports, raw }: NmapHost): boolean =>
  !answers &&
  asText(at(raw, 'status', 'reason')) === 'user-set' &&
  ports.every(({ state }) => state !== 'open')

/** What a host, under one of its names, has not answered stays open. */
function* answerOf(name: string, { answers, silent }: NmapHost): Generator<Imported> {
  if (!answers) yield { kind: 'silent', host: name, reason: SILENT_HOST }
  else {
    yield { kind: 'reached', host: name }
    for (const [protocol, ports] of silent)
      if (ports !== '')
        yield {
          kind: 'silent',
          host: protocol === 'udp' ? `${hostPort(name, '')}/udp` : hostPort(name, ''),
          ports: multirangeOf(ports),
          reason: SILENT_PORT,
        }
  }
}

/** The port number; with the protocol unless it is TCP. */
const portName = ({ protocol, number }: NmapPort): string =>
  protocol === '' || protocol === 'tcp' ? number : `${number}/${protocol}`

const portRecord = (port: NmapPort, value: string, { ip, os }: NmapHost): Imported => {
  const { service, product, version, method } = port
  // A name by the port number alone is a guess.
  const words = [service + (method === 'table' ? '?' : ''), product, version]
  return asset({
    asset_type: 'port',
    asset_value: value,
    host_ip: ip,
    open_ports: [portName(port)],
    title: words.filter((word) => word !== '').join(' '),
    technologies: [productTechnology(product, version), os],
    raw_json_data: JSON.stringify(port.raw),
  })
}

const CVE = /CVE-\d{4}-\d{4,7}/
const CVES = new RegExp(CVE, 'g')
const VULNERABLE = /State:\s*(LIKELY )?VULNERABLE/

/** The vulnerabilities that a script writes, each from its title to the next one. */
const entriesOf = (output: string): string[] => {
  const lines = output.split('\n')
  const titles = lines.flatMap((line, at) => (/^\s*State:\s/.test(line) && at > 0 ? [at - 1] : []))
  return titles.length < 2
    ? [output]
    : titles.map((from, nth) => lines.slice(from, titles[nth + 1]).join('\n'))
}

function* scriptRecords(script: unknown, place: string, time: Date): Generator<Imported> {
  const output = asText(at(script, 'output'))
  const id = asText(at(script, 'id'))
  if (isFailure(output)) {
    yield failed(`the script ${id} failed: ${output.trim()}`, { host: place, check: id })
    return
  }
  const raw = JSON.stringify(script)
  if (!VULNERABLE.test(output)) {
    const weakness = scriptWeakness(script, time)
    if (weakness !== undefined) yield weaknessRecord(weakness, { id, place, output, raw })
    return
  }
  const entries = entriesOf(output)
  for (const entry of entries) {
    const state = VULNERABLE.exec(entry)
    const title = /(?:^|VULNERABLE:)\s*([^\n]+)\n\s*State:/.exec(entry)?.[1]?.trim() ?? id
    const cves = entry.match(CVES) ?? []
    if (state === null) continue
    yield finding({
      vuln_info: cves[0] ?? id,
      vuln_title: title,
      vuln_desc: entry.trim(),
      severity: /Risk factor:\s*(\w+)/i.exec(entry)?.[1] ?? 'medium',
      confidence: state[1] === undefined ? 'Firm' : 'Tentative',
      asset_type: 'network',
      asset_value: place,
      tags: ['nmap', id, ...new Set(cves)],
      fingerprint: entries.length > 1 && cves.length === 0 ? title : '',
      raw_vuln_json: raw,
    })
  }
}

function* serviceRecords({ raw, service, method }: NmapPort, place: string): Generator<Imported> {
  const element = at(raw, 'service')
  const weakness = serviceWeakness(element)
  if (weakness === undefined) return
  yield weaknessRecord(weakness, {
    id: `service-${asText(at(element, 'name'))}`,
    place,
    output: service,
    // Without a response nmap names a service by the number of its port.
    confidence: method === 'probed' ? 'Firm' : 'Tentative',
    raw: JSON.stringify(element),
  })
}

/** One finding for each path, as a web page. */
function* enumRecords(script: unknown, url: string): Generator<Imported> {
  for (const { path, text, weakness } of enumWeaknesses(asText(at(script, 'output'))))
    yield weaknessRecord(weakness, {
      id: CVE.exec(text)?.[0] ?? 'http-enum',
      type: 'web',
      script: 'http-enum',
      place: `${url}${path}`,
      output: `${path}: ${text}`,
      confidence: /^Possible|Potential/i.test(text) ? 'Tentative' : 'Firm',
      raw: '',
    })
}

const urlOf = ({ service }: NmapPort, place: string): string =>
  `${/ssl|https/.test(service) ? 'https' : 'http'}://${place}`

interface Proof {
  readonly id: string
  /** The script, if the finding has another name. */
  readonly script?: string
  readonly type?: string
  readonly place: string
  readonly output: string
  readonly confidence?: Confidence
  readonly raw: string
}

const weaknessRecord = (
  { severity, title, why }: Weakness,
  { id, script = id, type = 'network', place, output, confidence = 'Firm', raw }: Proof,
): Imported =>
  finding({
    vuln_info: id,
    vuln_title: title,
    vuln_desc: `${why}\n\n${output.trim()}`,
    severity,
    confidence,
    asset_type: type,
    asset_value: place,
    tags: [...new Set(['nmap', id, script])],
    raw_vuln_json: raw,
  })
