import { dirname } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { messageOf } from '../fault.ts'
import type { Json } from '../model.ts'
import { NoResult, textArg, type FunctionContext } from './define.ts'
import { readText } from './file.ts'
import { isThere, makeFolder, pathArg, writeLines } from './files.ts'
import { linesOf } from './lines.ts'
import type { RunPlace } from './allowed.ts'
import { removeFile } from './remove.ts'
import { checkPath } from './run-folder.ts'

type Row = Record<string, Json>

/** A port, as a report has it. */
interface Port {
  readonly number: string
  readonly protocol: string
  readonly state: string
  readonly service: string
  readonly product: string
  readonly version: string
  readonly extra: string
  readonly method: string
}

interface Host {
  readonly ip: string
  readonly name: string
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

const portOf = (port: unknown): Port => ({
  number: attribute(port, 'portid'),
  protocol: attribute(port, 'protocol'),
  state: attribute(port, 'state', 'state'),
  service: attribute(port, 'service', 'name'),
  product: attribute(port, 'service', 'product'),
  version: attribute(port, 'service', 'version'),
  extra: attribute(port, 'service', 'extrainfo'),
  method: attribute(port, 'service', 'method'),
})

/** A report that nmap did not finish may end anywhere. */
const parsedXml = (parser: XMLParser, xml: string): unknown => {
  try {
    return parser.parse(xml)
  } catch (error) {
    throw new NoResult(`no XML report of nmap: ${messageOf(error)}`, { cause: error })
  }
}

const hostsOfXml = (xml: string): Host[] => {
  // Reports hold what hosts sent: values stay texts.
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseAttributeValue: false,
    processEntities: true,
  })
  const report = parsedXml(parser, xml)
  if (inside(report, 'nmaprun') === undefined) throw new NoResult('no XML report of nmap')
  return asList(inside(report, 'nmaprun', 'host')).map((host) => {
    const address = asList(inside(host, 'address')).find((each) => attribute(each, 'addrtype') !== 'mac')
    const [name] = asList(inside(host, 'hostnames', 'hostname'))
    return {
      ip: attribute(address, 'addr'),
      name: attribute(name, 'name'),
      ports: asList(inside(host, 'ports', 'port')).map(portOf),
    }
  })
}

/** `Host: 10.0.0.1 ()<tab>Ports: 22/open/tcp//ssh//OpenSSH 9/, …` */
const hostsOfGrepable = async (path: string, place: RunPlace): Promise<Host[]> => {
  const hosts: Host[] = []
  for await (const line of linesOf(path, place)) {
    const [, ip = '', name = ''] = /^Host:\s+(\S+)(?:\s+\(([^)]*)\))?/.exec(line) ?? []
    const [, list] = /\tPorts: ([^\t]*)/.exec(line) ?? []
    if (ip === '' || list === undefined) continue
    const ports = list.split(', ').flatMap((entry): Port[] => {
      const [number = '', state = '', protocol, , service = '', , version = ''] = entry.trim().split('/')
      const none = { product: '', extra: '', method: '' }
      return protocol === undefined ? [] : [{ number, state, protocol, service, version, ...none }]
    })
    hosts.push({ ip, name, ports })
  }
  return hosts
}

const hostsOf = async (path: string, place: RunPlace): Promise<Host[]> =>
  /\.gnmap$/i.test(path) ? await hostsOfGrepable(path, place) : hostsOfXml(await readText(path, place))

const withoutEmpty = (row: Readonly<Record<string, string>>): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ''))

const hostRow = ({ ip, ports }: Host): Row => ({
  asset_value: ip,
  host_ip: ip,
  asset_type: 'ip',
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

/** One line for each host that has an address and ports. */
export const nmapToJsonl = async (source: string, dest: string, context: FunctionContext): Promise<Json> => {
  const hosts = (await hostsOf(source, context)).filter(({ ip, ports }) => ip !== '' && ports.length > 0)
  await writeLines(
    dest,
    hosts.map((host) => JSON.stringify(hostRow(host))),
    context,
  )
  return true
}

/** One line for each port. */
export const portRows = async (source: string, place: RunPlace): Promise<string[]> =>
  (await hostsOf(source, place)).flatMap(({ ip, name, ports }) =>
    ports.map(({ number, protocol, state, service, product, version, extra }) =>
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
      }),
    ),
  )

export const runNmap = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const target = textArg(args, 0)
  if (target === '' || target.startsWith('-')) throw new NoResult('run_nmap needs a target')
  const name = target.replaceAll(/[/:.]/g, '-').replace(/-(txt|xml)$/, '')
  const dest =
    textArg(args, 2) === '' ? `${context.folders.output}/nmap-${name}.jsonl` : pathArg(args, 2, context)
  const xml = `${dest}.xml`
  for (const path of [dest, xml]) await checkPath(path, context, 'write')
  await makeFolder(dirname(dest), context)
  // The report of an earlier scan must not pass for that of this one.
  await removeFile(xml, context)
  const flags = (textArg(args, 1) || '-sV -T4').split(/\s+/).filter((flag) => flag !== '')
  const { exitCode, stderr, problem } = await context.exec(['nmap', ...flags, '-oX', xml, '--', target])
  if (exitCode !== 0 && !(await isThere(xml, context)))
    throw new NoResult(`nmap failed: ${problem || stderr.trim() || `exit code ${exitCode}`}`)
  await nmapToJsonl(xml, dest, context)
  return dest
}
