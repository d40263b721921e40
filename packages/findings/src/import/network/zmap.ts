import { asText, at } from '../../fields.ts'
import { spelled } from '../paths.ts'
import type { Imported } from '../read-body.ts'
import { jsonBesideLog } from '../json/json-report.ts'
import { asset, hostPort, unusable } from '../records.ts'

/** Reads lines of JSON of zmap (`-O json`). With `-f '*'` they name the port, and addresses that refused. */
export async function* zmapAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  for await (const part of jsonBesideLog(body, '', '[]')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (!Array.isArray(part.value)) yield* records(part.value, part.line)
  }
}

function* records(row: unknown, line: number): Generator<Imported> {
  const ip = spelled(asText(at(row, 'saddr')))
  if (ip === '') {
    yield unusable('it is not a line of zmap (-O json): saddr is missing', line)
    return
  }
  const success = asText(at(row, 'success'))
  if (success === '0' || success === 'false' || asText(at(row, 'repeat')) === '1') return
  const port = asText(at(row, 'sport'))
  const name = asText(at(row, 'classification')) === 'udp' ? `${port}/udp` : port
  const raw_json_data = JSON.stringify(row)
  if (port === '') yield asset({ asset_type: 'ip', asset_value: ip, host_ip: ip, raw_json_data })
  else
    yield asset({
      asset_type: 'port',
      asset_value: hostPort(ip, name),
      host_ip: ip,
      open_ports: [name],
      raw_json_data,
    })
}
