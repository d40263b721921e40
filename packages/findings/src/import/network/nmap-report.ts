import { asList, asText, at } from '../../fields.ts'
import { hostAnswers, namesOf, silentPorts } from './nmap-answers.ts'
import type { ReportPart } from '../read-body.ts'
import { xmlParts } from '../read-xml.ts'

export interface NmapPort {
  readonly number: string
  readonly protocol: string
  readonly state: string
  /** As printed by nmap: `ssl/http` for HTTP over TLS. */
  readonly service: string
  readonly product: string
  readonly version: string
  readonly extra: string
  /** `table`: the service is only the usual one of this port number, because it did not identify itself. */
  readonly method: string
  /** The element. */
  readonly raw: unknown
}

export interface NmapHost {
  readonly ip: string
  /** The name that was scanned, or `""`; `reverse`: names that only the address has in DNS. */
  readonly name: string
  readonly reverse: readonly string[]
  /** The most likely operating system, or `""`. */
  readonly os: string
  readonly isDown: boolean
  /** Whether the host sent a response: with -Pn nmap reports every host as up. */
  readonly answers: boolean
  /** The ports from which nothing came back, as `80,1000-2000`, by protocol. */
  readonly silent: ReadonlyMap<string, string>
  readonly ports: readonly NmapPort[]
  readonly raw: unknown
}

/** `run`: a report begins; `end`: its statistics; `skipped`: a target that nmap did not look at. */
export type NmapPart =
  | { readonly kind: 'skipped'; readonly target: string }
  | { readonly kind: 'run'; readonly raw: unknown }
  | { readonly kind: 'end'; readonly raw: unknown }
  | { readonly kind: 'host'; readonly host: NmapHost }
  | Extract<ReportPart, { kind: 'problem' }>

/** Reads XML of nmap (-oX), in memory for one host. */
export async function* nmapReport(body: AsyncIterable<Uint8Array>): AsyncGenerator<NmapPart> {
  for await (const part of xmlParts(body, 'nmaprun', 'nmaprun.target', 'nmaprun.host', 'nmaprun.runstats')) {
    if (part.kind === 'problem') yield part
    else if (part.at === 'nmaprun.target')
      yield { kind: 'skipped', target: asText(at(part.value, 'specification')) }
    else if (part.at === 'nmaprun.host') yield { kind: 'host', host: hostOf(part.value) }
    else if (part.at === 'nmaprun') yield { kind: 'run', raw: part.value }
    else yield { kind: 'end', raw: part.value }
  }
}

const hostOf = (raw: unknown): NmapHost => {
  const address = asList(at(raw, 'address')).find((one) => asText(at(one, 'addrtype')) !== 'mac')
  const [likeliest] = asList(at(raw, 'os', 'osmatch')).toSorted(
    (a, b) => Number(at(b, 'accuracy')) - Number(at(a, 'accuracy')),
  )
  return {
    ip: asText(at(address, 'addr')),
    ...namesOf(raw),
    os: asText(at(likeliest, 'name')),
    isDown: asText(at(raw, 'status', 'state')) === 'down',
    answers: hostAnswers(raw),
    silent: silentPorts(raw),
    ports: asList(at(raw, 'ports', 'port')).map(portOf),
    raw,
  }
}

const portOf = (raw: unknown): NmapPort => {
  const ofService = (name: string): string => asText(at(raw, 'service', name))
  const [name, tunnel] = [ofService('name'), ofService('tunnel')]
  return {
    number: asText(at(raw, 'portid')),
    protocol: asText(at(raw, 'protocol')),
    state: asText(at(raw, 'state', 'state')),
    service: tunnel === '' || name.startsWith(`${tunnel}/`) ? name : `${tunnel}/${name}`,
    product: ofService('product'),
    version: ofService('version'),
    extra: ofService('extrainfo'),
    method: ofService('method'),
    raw,
  }
}
