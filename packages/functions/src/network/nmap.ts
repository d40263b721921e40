import { constants } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { dirname } from 'node:path'
import { nmapReport, SILENT_HOST, SILENT_PORT, type NmapHost, type NmapPort } from '@scanfarm/findings'
import type { Json } from '@scanfarm/language'
import { NoResult, type FunctionContext, type Run } from '../define.ts'
import { isThere, makeFolder, programPath, writeLines } from '../files/files.ts'
import { linesOf } from '../files/lines.ts'
import type { FileScope } from '../paths/allowed.ts'
import { removeFile } from '../paths/remove.ts'
import { MAX_HOSTS, noteReached } from './reached.ts'
import { checkPath, openFile } from '../paths/run-folder.ts'

type Row = Record<string, Json>
type Port = Omit<NmapPort, 'raw'>

interface Host extends Pick<NmapHost, 'ip' | 'name' | 'os' | 'answers' | 'silent'> {
  readonly ports: readonly Port[]
}

/** Maximum number of bytes of a report, whose hosts are kept in memory. */
const MAX_REPORT = 512 << 20

const NO_REPORT = 'not an XML report of nmap'

const hostsOfXml = async (path: string, scope: FileScope): Promise<Host[]> => {
  if (!(await isThere(path, scope))) throw new NoResult(NO_REPORT)
  await using file = await openFile(path, scope, constants.O_RDONLY)
  if ((await file.stat()).size > MAX_REPORT)
    throw new Error(`${path} has more than ${MAX_REPORT} bytes; scan fewer hosts at once`)
  const hosts: Host[] = []
  let isReport = false
  for await (const part of nmapReport(file.createReadStream({ autoClose: false }))) {
    scope.signal?.throwIfAborted()
    if (part.kind === 'run') isReport = true
    else if (part.kind === 'host') hosts.push(withoutElements(part.host))
    // The hosts before the end of a report that was cut short are complete.
    else if (part.kind === 'problem' && (part.text !== '<nmaprun' || hosts.length === 0))
      throw new NoResult(`the nmap report cannot be read: line ${part.line}: ${part.reason}`)
  }
  if (!isReport) throw new NoResult(NO_REPORT)
  return hosts
}

const withoutElements = ({ ip, name, os, answers, silent, ports }: NmapHost): Host => ({
  ip,
  name,
  os,
  answers,
  silent,
  ports: ports.map(({ raw: _, ...port }) => port),
})

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
    const answers = ports.some(({ state }) => ANSWERED.test(state))
    hosts.push({ ip, name, os: '', answers, silent: new Map(), ports })
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
export const nmapToJsonl = async (source: string, dest: string, context: FunctionContext): Promise<void> => {
  const all = await hostsOf(source, context)
  const hosts = all.filter(({ ip, ports }) => ip !== '' && ports.length > 0)
  noteReached(context, dest, reachedOf(all))
  await writeLines(
    dest,
    hosts.map((host) => JSON.stringify(hostRow(host))),
    context,
  )
}

const namesOf = ({ ip, name }: Host): string[] => [...new Set([ip, name])].filter((one) => one !== '')

/** Names and addresses of the hosts that responded. */
const reachedOf = (hosts: readonly Host[]): string[] => [
  ...new Set(hosts.filter(({ answers }) => answers).flatMap(namesOf)),
]

/** Lines for what did not answer: hosts, ports of hosts that answer, and names of `scanned` that are not in the report. */
const silentLines = (hosts: readonly Host[], scanned: readonly string[]): string[] => {
  const names = new Set(hosts.flatMap(namesOf))
  return [
    ...hosts.flatMap((host) =>
      namesOf(host).flatMap((name) =>
        host.answers
          ? [...host.silent]
              .filter(([, ports]) => ports !== '')
              .map(([protocol, ports]) => {
                const place = `${isIPv6(name) ? `[${name}]` : name}:${ports}${protocol === 'udp' ? '/udp' : ''}`
                return `? ${place} ${SILENT_PORT}`
              })
          : [`? ${name} ${SILENT_HOST}`],
      ),
    ),
    ...scanned
      .map((line) => line.trim().toLowerCase())
      .filter((line) => HOST_NAME.test(line) && !names.has(line))
      .map((line) => `? ${line} its name could not be resolved`),
  ]
}

/** No address, network or range of them. */
const HOST_NAME = /^(?=.*[a-z])[a-z0-9._-]+$/

/** Writes the hosts of a report that responded, one per line, and with a list of what was scanned also what did not. */
export const nmapReached: Run = async (context) => {
  const dest = await programPath(context, 1, 'write')
  const scanned: string[] = []
  if (context.text(2) !== '') for await (const line of linesOf(context.path(2), context)) scanned.push(line)
  const hosts = await hostsOf(context.path(0), context)
  const reached = reachedOf(hosts)
  const silent = context.text(2) === '' ? [] : silentLines(hosts, scanned)
  await writeLines(dest, [...reached, ...silent.slice(0, MAX_HOSTS - reached.length)], context)
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

export const runNmap: Run = async (context) => {
  const target = context.text(0)
  if (target === '' || target.startsWith('-')) throw new NoResult('run_nmap needs a target')
  const name = target.replaceAll(/[/:.]/g, '-').replace(/-(txt|xml)$/, '')
  const dest = context.path(2, `nmap-${name}.jsonl`)
  const xml = `${dest}.xml`
  for (const path of [dest, xml]) await checkPath(path, context, 'write')
  await makeFolder(dirname(dest), context)
  // The report of an earlier scan must not be taken for that of this scan.
  await removeFile(xml, context)
  const flags = (context.text(1) || '-sV -T4').split(/\s+/).filter((flag) => flag !== '')
  const { exitCode, stderr, problem } = await context.exec(['nmap', ...flags, '-oX', xml, '--', target])
  if (exitCode !== 0 && !(await isThere(xml, context)))
    throw new NoResult(`nmap failed: ${problem || stderr.trim() || `exit code ${exitCode}`}`)
  await nmapToJsonl(xml, dest, context)
  return dest
}
