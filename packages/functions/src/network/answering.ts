import { connect } from 'node:net'
import { isCidr } from './target.ts'
import { codeOf, type Json } from '@scanfarm/language'
import type { FunctionContext } from '../define.ts'
import { Distinct, linesOf } from '../files/lines.ts'
import { writeLines } from '../files/files.ts'
import { MAX_HOSTS } from './reached.ts'

const TIMEOUT_MS = 3_000
const AT_ONCE = 64
/** Default ports of a host. */
const WEB_PORTS = [443, 80]

interface Endpoint {
  readonly host: string
  readonly ports: readonly number[]
}

/** The endpoints of a URL, `host:port`, `[address]:port`, host or address; none for a network. */
const endpointOf = (text: string): Endpoint | undefined => {
  if (isCidr(text)) return undefined
  const [, scheme = '', authority = ''] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/?#@]*@)?([^/?#]*)/i.exec(text) ?? []
  const bare = /^[0-9a-f.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(authority) ? [authority] : undefined
  const [host = '', port = ''] = bare ?? /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority)?.slice(1) ?? []
  if (host === '' || Number(port) > 65_535) return undefined
  const own = { http: [80], https: [443] }[scheme.toLowerCase()] ?? WEB_PORTS
  return { host: host.replaceAll(/^\[|\]$/g, ''), ports: port ? [Number(port)] : own }
}

/** Whether a host accepts or refuses a connection: both prove that it is up. */
const answersOn = async (host: string, port: number, signal: AbortSignal): Promise<boolean> =>
  await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS })
    const end = (answers: boolean) => {
      signal.removeEventListener('abort', stop)
      socket.destroy()
      resolve(answers)
    }
    const stop = () => end(false)
    signal.addEventListener('abort', stop, { once: true })
    socket
      .once('connect', () => end(true))
      .once('timeout', stop)
      .on('error', (error) => end(/ECONNREFUSED|ECONNRESET/.test(refusalOf(error))))
  })

/** A name with several addresses has an aggregate error. */
const refusalOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(codeOf).join(' ') : codeOf(error)

const answers = async (line: string, signal: AbortSignal): Promise<boolean> => {
  const endpoint = endpointOf(line)
  if (endpoint === undefined) return false
  for (const port of endpoint.ports) if (await answersOn(endpoint.host, port, signal)) return true
  return false
}

/** Lines of a file whose hosts are up, in order. */
export const answeringHosts = async (source: string, dest: string, at: FunctionContext): Promise<Json> => {
  const distinct = new Distinct()
  const lines: string[] = []
  for await (const line of linesOf(source, at)) {
    if (line.trim() === '' || !distinct.add(line.trim())) continue
    if (lines.push(line.trim()) > MAX_HOSTS) throw new Error(`more than ${MAX_HOSTS} hosts in one file`)
  }
  const found: boolean[] = []
  const queue = lines.entries()
  const work = async () => {
    for (const [n, line] of queue) {
      at.signal.throwIfAborted()
      found[n] = await answers(line, at.signal)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  at.signal.throwIfAborted()
  const reached = lines.filter((_, n) => found[n])
  await writeLines(dest, reached, at)
  return reached.length
}
