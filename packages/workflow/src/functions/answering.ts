import { connect } from 'node:net'
import { isCidr } from '../execute/target.ts'
import { codeOf } from '../fault.ts'
import type { Json } from '../model.ts'
import type { FunctionContext } from './define.ts'
import { Distinct, linesOf } from './lines.ts'
import { writeLines } from './files.ts'
import { MAX_HOSTS } from './reached.ts'

const TIMEOUT_MS = 3_000
const AT_ONCE = 64
/** Ports of a host that comes without one. */
const WEB_PORTS = [443, 80]

interface Place {
  readonly host: string
  readonly ports: readonly number[]
}

/** Where to connect to for a URL, `host:port`, `[address]:port`, or a bare host or address; a network is no place. */
const placeOf = (text: string): Place | undefined => {
  if (isCidr(text)) return undefined
  const [, scheme = '', authority = ''] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/?#@]*@)?([^/?#]*)/i.exec(text) ?? []
  const bare = /^[0-9a-f.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(authority) ? [authority] : undefined
  const [host = '', port = ''] = bare ?? /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority)?.slice(1) ?? []
  if (host === '' || Number(port) > 65_535) return undefined
  const own = { http: [80], https: [443] }[scheme.toLowerCase()] ?? WEB_PORTS
  return { host: host.replaceAll(/^\[|\]$/g, ''), ports: port ? [Number(port)] : own }
}

/** Whether a host accepts or refuses the connection: either way it is there. */
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

/** Of a name with several addresses the errors come together. */
const refusalOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(codeOf).join(' ') : codeOf(error)

const answers = async (line: string, signal: AbortSignal): Promise<boolean> => {
  const place = placeOf(line)
  if (place === undefined) return false
  for (const port of place.ports) if (await answersOn(place.host, port, signal)) return true
  return false
}

/** Lines of a file whose hosts answer, in their order. */
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
