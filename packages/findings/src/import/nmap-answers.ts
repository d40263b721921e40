import { asList, asText, at } from '../fields.ts'
import { spelled } from './paths.ts'

/** Reasons of a state that need no packet from the host. */
const NO_ANSWER =
  /^(|user-set|no-response|no-responses|(host|net|proto|dest)-unreach(es)?|(admin|host|net)-prohibiteds?|time-exceededs?|unknown-response)$/

/** Whether a host of an nmap report sent a response: with -Pn nmap reports every host as up. */
export const hostAnswers = (host: unknown): boolean => {
  if (asText(at(host, 'status', 'state')) === 'down' || asText(at(host, 'timedout')) === 'true') return false
  const ports = asList(at(host, 'ports', 'port')).map((port) => asText(at(port, 'state', 'reason')))
  const others = asList(at(host, 'ports', 'extraports')).flatMap((extra) =>
    asList(at(extra, 'extrareasons')).map((reason) => asText(at(reason, 'reason'))),
  )
  return [asText(at(host, 'status', 'reason')), ...ports, ...others].some((reason) => !NO_ANSWER.test(reason))
}

/** The scanned name, or `""`, and names that only the address has in DNS: several addresses may share one. */
export const namesOf = (host: unknown): { readonly name: string; readonly reverse: readonly string[] } => {
  const named = asList(at(host, 'hostnames', 'hostname'))
  const isReverse = (one: unknown): boolean => asText(at(one, 'type')) === 'PTR'
  const scanned = named.find((one) => !isReverse(one))
  return {
    name: spelled(asText(at(scanned, 'name'))),
    reverse: named.filter(isReverse).map((one) => asText(at(one, 'name'))),
  }
}
