import { lookup } from 'node:dns/promises'
import { request as http, type IncomingMessage } from 'node:http'
import { request as https } from 'node:https'
import { data, type Value } from '@scanfarm/language'
import { randomText } from '../flow/builtins.ts'
import { heuristicsOf } from '../flow/heuristics.ts'
import { textsOf } from '../flow/modules-of.ts'
import { DNS_MS, within } from './resolve-name.ts'
import type { Run } from '../flow/run.ts'
import { targetType } from '@scanfarm/functions'

/** Time limit of a request. On timeout the variable stays unset, so that the run does not wait. */
const HTTP_MS = 10_000
const MAX_REDIRECTS = 10
const RANDOM_NAMES = 20
const COMMON_NAMES = ['app', 'admin', 'user', 'api', 'test']
/** Share of the resolving names that must have the same address. */
const WILDCARD_SHARE = 0.9

const PROBED = ['TargetIsWildcard', 'TargetResolvedIP', 'TargetStatusCode', 'TargetContentLength'] as const
type Probed = (typeof PROBED)[number]

const isWildcard = async (domain: string, run: Run): Promise<boolean> => {
  const random = Array.from({ length: RANDOM_NAMES }, () => randomText(8, run.ports))
  const answers = await Promise.all(
    [...random, ...COMMON_NAMES].map(async (name) => (await run.ports.resolve(`${name}.${domain}`))[0]),
  )
  const found = answers.filter((address) => address !== undefined)
  const most = Math.max(
    0,
    ...Map.groupBy(found, (address) => address)
      .values()
      .map((same) => same.length),
  )
  return found.length > 0 && most / found.length >= WILDCARD_SHARE
}

/** Also uses the hosts file of this machine. */
const addressOf = async (host: string, run: Run): Promise<string> => {
  const [first] = await run.ports.resolve(host)
  return first ?? (await within(DNS_MS, lookup(host), { address: '', family: 0 })).address
}

const ask = async (method: string, url: URL, signal: AbortSignal): Promise<IncomingMessage> =>
  await new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? https : http
    // Certificates are irrelevant for probing.
    request(url, { method, signal, rejectUnauthorized: false, agent: false })
      .on('response', (answer) => {
        answer.on('error', () => undefined).destroy()
        resolve(answer)
      })
      .on('error', reject)
      .end()
  })

/** The first answer that is no redirect, or redirects to where the run may not go. */
const answerOf = async (
  method: string,
  start: string,
  { input: { services } }: Run,
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  let url = new URL(start)
  for (let hop = 0; ; hop += 1) {
    const answer = await ask(method, url, signal)
    const { location } = answer.headers
    const status = answer.statusCode ?? 0
    if (status < 300 || status > 399 || location === undefined || hop === MAX_REDIRECTS) return answer
    const next = new URL(location, url)
    if (next.protocol !== 'http:' && next.protocol !== 'https:') return answer
    if ((await services?.permit?.(next.href, 'redirect')) !== undefined) return answer
    url = next
  }
}

const webVariables = async (url: string, run: Run): Promise<[Probed, Value][]> => {
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(HTTP_MS)])
  const answer = await answerOf('HEAD', url, run, signal)
    .catch(() => answerOf('GET', url, run, signal))
    .catch(() => undefined)
  if (answer === undefined) return []
  const { statusCode = 0, headers } = answer
  return [
    ['TargetStatusCode', statusCode],
    ['TargetContentLength', data(headers['content-length'] ?? '')],
  ]
}

/**
 * Sets the variables about the target that need the network, if the workflow mentions them: whether the domain is a
 * wildcard and, with `advanced` heuristics, its address and the response of its web server.
 */
export const probeTarget = async (run: Run): Promise<[string, Value][]> => {
  const { workflow, target, localTarget, dryRun } = run.input
  const level = heuristicsOf(run.input)
  // Others than those that the workflow mentions cause no network traffic.
  const named = new Set(PROBED.filter((name) => textsOf(workflow).includes(name)))
  if (level === 'none' || named.size === 0) return []
  const type = targetType(target, localTarget)
  const found: [string, Value][] = []
  const quiet = dryRun === true
  if (type === 'domain' && named.has('TargetIsWildcard'))
    found.push([
      'TargetIsWildcard',
      target.startsWith('*.') || (!quiet && (await within(DNS_MS, isWildcard(target, run), false))),
    ])
  if (quiet || level !== 'advanced') return found
  if (type === 'domain' && named.has('TargetResolvedIP'))
    found.push(['TargetResolvedIP', data(await addressOf(target.replace(/^\*\./, ''), run))])
  if (type === 'url' && (named.has('TargetStatusCode') || named.has('TargetContentLength')))
    found.push(...(await webVariables(/^https?:/i.test(target) ? target : `https://${target}`, run)))
  return found
}
