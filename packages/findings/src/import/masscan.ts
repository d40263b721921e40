import { asList, asText, at } from '../fields.ts'
import { textOf, unreadable, type Imported } from './read-body.ts'
import { parseJson } from './read-json.ts'
import { asset, ERROR, hostPort } from './records.ts'

/** Versions before 1.3 end the list with a comma or with `{finished: 1}`; one that found nothing writes no list. */
const END = /,?\s*(\{\s*finished:\s*1\s*\}\s*)?\]?\s*$/

/** Reads open ports as assets with the same values as those of nmap. */
export async function* masscanAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const text = (await textOf(body)).trim()
  if (text === '') return
  const hosts = parseJson(text.endsWith(']') ? text.replace(END, ']') : text)
  if (!Array.isArray(hosts)) throw unreadable('it is not JSON of masscan (-oJ)')
  for (const host of hosts) {
    const ip = asText(at(host, 'ip'))
    const ports = asList(at(host, 'ports'))
    if (ip === '' || ports.length === 0) yield ERROR
    else for (const port of ports) yield* portRecords(ip, port)
  }
}

function* portRecords(ip: string, port: unknown): Generator<Imported> {
  const number = asText(at(port, 'port'))
  if (!/^\d+$/.test(number)) {
    yield ERROR
    return
  }
  const service = at(port, 'service')
  // Rows of banners have no status.
  if (service === undefined && asText(at(port, 'status')) !== 'open') return
  const protocol = asText(at(port, 'proto'))
  const name = protocol === '' || protocol === 'tcp' ? number : `${number}/${protocol}`
  yield asset({
    asset_type: 'port',
    asset_value: hostPort(ip, name),
    host_ip: ip,
    open_ports: [name],
    title: asText(at(service, 'name')),
    raw_json_data: JSON.stringify(port),
  })
}
