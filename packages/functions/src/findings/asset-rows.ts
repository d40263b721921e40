import type { Json } from '@scanfarm/language'
import { fieldOf } from '../text/jsonl.ts'

/** Converts the output of tools to assets for the database. */

export type Row = Record<string, Json>

const pick = (row: Row, ...fields: string[]): Json | undefined => {
  for (const field of fields) {
    const value = fieldOf(row, field)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

const text = (row: Row, ...fields: string[]): string => {
  const value = pick(row, ...fields)
  if (value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const number = (row: Row, ...fields: string[]): number => Number(pick(row, ...fields) ?? 0) || 0

const texts = (row: Row, ...fields: string[]): string[] => {
  const value = pick(row, ...fields)
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  return value === undefined ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]
}

const withoutEmpty = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([, value]) => value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0),
    ),
  )

/** A line of httpx. */
export const httpAsset = (row: Row): Row =>
  withoutEmpty({
    asset_value: text(row, 'host', 'input', 'asset_value', 'url'),
    url: text(row, 'url'),
    input: text(row, 'input'),
    scheme: text(row, 'scheme'),
    method: text(row, 'method'),
    path: text(row, 'path'),
    status_code: number(row, 'status_code', 'status-code'),
    content_type: text(row, 'content_type', 'content-type'),
    content_length: number(row, 'content_length', 'content-length'),
    title: text(row, 'title'),
    words: number(row, 'words'),
    lines: number(row, 'lines'),
    host_ip: text(row, 'host_ip', 'a.0', 'ip'),
    dns_records: texts(row, 'a'),
    technologies: texts(row, 'tech', 'technologies'),
    response_time: text(row, 'time', 'response_time'),
    asset_type: text(row, 'asset_type') || 'http',
    is_cdn: pick(row, 'cdn', 'is_cdn') === true,
    source: text(row, 'source') || 'httpx',
    raw_json_data: JSON.stringify(row),
  })

/** A line of dnsx, or a bare host name. */
export const dnsAsset = (row: Row): Row =>
  withoutEmpty({
    asset_value: text(row, 'host', 'asset_value', 'value'),
    host_ip: texts(row, 'a')[0] ?? '',
    dns_records: [...texts(row, 'a'), ...texts(row, 'aaaa'), ...texts(row, 'cname')],
    asset_type: 'dns',
    source: text(row, 'source') || 'dnsx',
    raw_json_data: JSON.stringify(row),
  })

/** An open port of naabu or nmap, or a host with its open ports in the format of `nmap_to_jsonl`. */
export const portAsset = (row: Row, source: string): Row | undefined => {
  if (Array.isArray(row['open_ports'])) return hostAsset(row, source)
  return ['', 'open'].includes(text(row, 'state')) ? onePort(row, source) : undefined
}

const hostAsset = (row: Row, source: string): Row =>
  withoutEmpty({
    asset_value: text(row, 'asset_value', 'host', 'host_ip', 'ip'),
    host_ip: text(row, 'host_ip', 'ip'),
    open_ports: texts(row, 'open_ports'),
    technologies: texts(row, 'os'),
    asset_type: text(row, 'asset_type') || 'ip',
    source: text(row, 'source') || source,
    raw_json_data: JSON.stringify(row),
  })

/** TCP ports are written without the protocol; UDP ports are distinct. */
export const portLocation = (host: string, port: string, protocol: string): string =>
  `${host.includes(':') ? `[${host}]` : host}:${portName(port, protocol)}`

export const portName = (port: string, protocol: string): string =>
  protocol === '' || protocol === 'tcp' ? port : `${port}/${protocol}`

const onePort = (row: Row, source: string): Row =>
  withoutEmpty({
    asset_value: portLocation(text(row, 'host', 'ip'), text(row, 'port'), text(row, 'protocol')),
    host_ip: text(row, 'ip'),
    open_ports: [portName(text(row, 'port'), text(row, 'protocol'))],
    technologies: texts(row, 'os'),
    title: [
      text(row, 'service') + (row['guessed'] === true ? '?' : ''),
      text(row, 'product'),
      text(row, 'version'),
    ]
      .filter((part) => part !== '')
      .join(' '),
    asset_type: 'port',
    source,
    raw_json_data: JSON.stringify(row),
  })

export const customAsset = (row: Row, type: string, source: string): Row =>
  withoutEmpty({
    ...row,
    asset_value: text(row, 'asset_value', 'value', 'host', 'url', 'input', 'name'),
    asset_type: text(row, 'asset_type') || type,
    source: text(row, 'source') || source,
  })
