import { dirname } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { hostAnswers, namesOf } from '@scanfarm/findings'
import { messageOf, type Json } from '@scanfarm/language'
import { NoResult, textArg, type FunctionContext } from '../define.ts'
import { isThere, makeFolder, pathArg, writeLines } from '../files/files.ts'
import { linesOf, MAX_LINE } from '../files/lines.ts'
import type { FileScope } from '../paths/allowed.ts'
import { removeFile } from '../paths/remove.ts'
import { noteReached } from './reached.ts'
import { checkPath } from '../paths/run-folder.ts'

type Row = Record<string, Json>

/** A port of a report. */
interface Port {
  readonly number: string
  readonly protocol: string
  readonly state: string
  readonly service: string
  readonly product: string
  readonly version: string
  readonly extra: string
  /** `table`: the service is only the usual one of this port number, because it did not identify itself. */
  readonly method: string
}

interface Host {
  readonly ip: string
  readonly name: string
  /** The most likely operating system, or `""`. */
  readonly os: string
  /** Whether the host sent a response: with -Pn nmap reports every host as up. */
  readonly answers: boolean
  readonly ports: readonly Port[]
}

const asList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

const inside = (value: unknown, ...path: string[]): unknown => {
  let at = value
  for (const key of path)
    at = typeof at === 'object' && at !== null && key in at ? (at as Record<string, unknown>)[key] : undefined
  return at
}

const attribute = (value: unknown, ...path: string[]): string => {
  const at = inside(value, ...path)
  return typeof at === 'string' || typeof at === 'number' ? String(at) : ''
}

/** As printed by nmap: `ssl/http` for HTTP over TLS. */
const serviceOf = (port: unknown): string => {
  const name = attribute(port, 'service', 'name')
  const tunnel = attribute(port, 'service', 'tunnel')
  return tunnel === '' || name.startsWith(`${tunnel}/`) ? name : `${tunnel}/${name}`
}

const osOf = (host: unknown): string => {
  const [match] = asList(inside(host, 'os', 'osmatch'))
    .map((one) => [Number(attribute(one, 'accuracy')), attribute(one, 'name')] as const)
    .sort(([a], [b]) => b - a)
  return match?.[1] ?? ''
}

const portOf = (port: unknown): Port => ({
  number: attribute(port, 'portid'),
  protocol: attribute(port, 'protocol'),
  state: attribute(port, 'state', 'state'),
  service: serviceOf(port),
  product: attribute(port, 'service', 'product'),
  version: attribute(port, 'service', 'version'),
  extra: attribute(port, 'service', 'extrainfo'),
  method: attribute(port, 'service', 'method'),
})

/** An unfinished report may end anywhere. */
const parsedXml = (parser: XMLParser, xml: string): unknown => {
  try {
    return parser.parse(xml)
  } catch (error) {
    throw new NoResult(`not an XML report of nmap: ${messageOf(error)}`, { cause: error })
  }
}

/** The start tag of a host, not of `hosthint` or `hosts`. */
const HOST = /<host[\s>]/

/** Maximum number of characters of a report. Its hosts are parsed one at a time; each has at most `MAX_LINE`. */
const MAX_REPORT = 512 << 20

const tooLarge = (path: string, what: string, max: number): Error =>
  new Error(`${path} has ${what} of more than ${max} characters; scan fewer hosts at once`)

/** The text of each host of a report. Throws if the last one is truncated because nmap did not finish. */
const hostTexts = async function* (path: string, scope: FileScope): AsyncGenerator<string> {
  const end = '</host>'
  let parts: string[] = []
  let length = 0
  let total = 0
  let isReport = false
  for await (const line of linesOf(path, scope)) {
    isReport ||= line.includes('<nmaprun')
    total += line.length
    if (total > MAX_REPORT) throw tooLarge(path, 'a report', MAX_REPORT)
    const [first = '', ...rest] = line.split(end)
    parts.push(first)
    length += first.length
    if (length > MAX_LINE) throw tooLarge(path, 'a host', MAX_LINE)
    for (const next of rest) {
      yield parts.join('\n') + end
      parts = [next]
      length = next.length
    }
  }
  if (!isReport) throw new NoResult('not an XML report of nmap')
  if (HOST.test(parts.join('\n'))) throw new NoResult('the last host of the nmap report is truncated')
}

const hostsOfXml = async (path: string, scope: FileScope): Promise<Host[]> => {
  // Reports contain data sent by hosts, so that values stay texts.
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseAttributeValue: false,
    processEntities: true,
  })
  const hosts: Host[] = []
  for await (const text of hostTexts(path, scope))
    hosts.push(hostOf(inside(parsedXml(parser, text.slice(text.search(HOST))), 'host')))
  return hosts
}

const hostOf = (host: unknown): Host => {
  const address = asList(inside(host, 'address')).find((each) => attribute(each, 'addrtype') !== 'mac')
  return {
    ip: attribute(address, 'addr'),
    name: namesOf(host).name,
    os: osOf(host),
    answers: hostAnswers(host),
    ports: asList(inside(host, 'ports', 'port')).map(portOf),
  }
}

/** States of a port that prove a response of the host. */
const ANSWERED = /^(open|closed|unfiltered)$/

/** `Host: 10.0.0.1 ()<tab>Ports: 22/open/tcp//ssh//OpenSSH 9/, …` */
const hostsOfGrepable = async (path: string, scope: FileScope): Promise<Host[]> => {
  const hosts: Host[] = []
  for await (const line of linesOf(path, scope)) {
    const [, ip = '', name = ''] = /^Host:\s+(\S+)(?:\s+\(([^)]*)\))?/.exec(line) ?? []
    const [, list] = /\tPorts: ([^\t]*)/.exec(line) ?? []
    if (ip === '' || list === undefined) continue
    const ports = list.split(', ').flatMap((entry): Port[] => {
      const [number = '', state = '', protocol, , service = '', , version = ''] = entry.trim().split('/')
      const none = { product: '', extra: '', method: '' }
      return protocol === undefined ? [] : [{ number, state, protocol, service, version, ...none }]
    })
    hosts.push({ ip, name, os: '', answers: ports.some(({ state }) => ANSWERED.test(state)), ports })
  }
  return hosts
}

const hostsOf = async (path: string, scope: FileScope): Promise<Host[]> =>
  /\.gnmap$/i.test(path) ? await hostsOfGrepable(path, scope) : await hostsOfXml(path, scope)

const withoutEmpty = (row: Readonly<Record<string, string>>): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ''))

const hostRow = ({ ip, os, ports }: Host): Row => ({
  asset_value: ip,
  host_ip: ip,
  asset_type: 'ip',
  ...(os !== '' && { os }),
  open_ports: ports
    .filter(({ state }) => state === 'open' || state === 'filtered')
    .map(({ number, protocol }) => `${number}/${protocol}`),
  ports: Object.fromEntries(
    ports.map(({ number, protocol, state, service, product, version, extra, method }) => [
      number,
      withoutEmpty({
        protocol,
        state,
        service,
        product,
        version,
        service_info: extra || (method && `method=${method}`),
      }),
    ]),
  ),
})

/** One row for each host with an address and ports. */
export const nmapToJsonl = async (source: string, dest: string, context: FunctionContext): Promise<Json> => {
  const all = await hostsOf(source, context)
  const hosts = all.filter(({ ip, ports }) => ip !== '' && ports.length > 0)
  noteReached(context, dest, reachedOf(all))
  await writeLines(
    dest,
    hosts.map((host) => JSON.stringify(hostRow(host))),
    context,
  )
  return true
}

/** Names and addresses of the hosts that responded. */
const reachedOf = (hosts: readonly Host[]): string[] => [
  ...new Set(
    hosts.filter(({ answers }) => answers).flatMap(({ ip, name }) => [ip, name].filter((one) => one !== '')),
  ),
]

/** Writes the hosts of a report that responded, one per line. */
export const nmapReached = async (source: string, dest: string, context: FunctionContext): Promise<Json> => {
  const hosts = await hostsOf(source, context)
  await writeLines(dest, reachedOf(hosts), context)
  return hosts.filter(({ answers }) => answers).length
}

/** One row for each port, filtered by state if one is given. */
const portRows = (hosts: readonly Host[], only: string): string[] =>
  hosts.flatMap(({ ip, name, os, ports }) =>
    ports
      .filter(({ state }) => only === '' || state === only)
      .map(({ number, protocol, state, service, product, version, extra, method }) =>
        JSON.stringify({
          host: name || ip,
          ip,
          port: Number(number),
          protocol,
          state,
          service,
          product,
          version,
          extra_info: extra,
          ...(method === 'table' && { guessed: true }),
          ...(os !== '' && { os }),
        }),
      ),
  )

export const nmapPortsToJsonl = async (
  source: string,
  dest: string,
  only: string,
  context: FunctionContext,
): Promise<Json> => {
  const hosts = await hostsOf(source, context)
  const rows = portRows(hosts, only)
  await writeLines(dest, rows, context)
  noteReached(context, dest, reachedOf(hosts))
  return rows.length
}

export const runNmap = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const target = textArg(args, 0)
  if (target === '' || target.startsWith('-')) throw new NoResult('run_nmap needs a target')
  const name = target.replaceAll(/[/:.]/g, '-').replace(/-(txt|xml)$/, '')
  const dest =
    textArg(args, 2) === '' ? `${context.folders.output}/nmap-${name}.jsonl` : pathArg(args, 2, context)
  const xml = `${dest}.xml`
  for (const path of [dest, xml]) await checkPath(path, context, 'write')
  await makeFolder(dirname(dest), context)
  // The report of an earlier scan must not be taken for that of this scan.
  await removeFile(xml, context)
  const flags = (textArg(args, 1) || '-sV -T4').split(/\s+/).filter((flag) => flag !== '')
  const { exitCode, stderr, problem } = await context.exec(['nmap', ...flags, '-oX', xml, '--', target])
  if (exitCode !== 0 && !(await isThere(xml, context)))
    throw new NoResult(`nmap failed: ${problem || stderr.trim() || `exit code ${exitCode}`}`)
  await nmapToJsonl(xml, dest, context)
  return dest
}
