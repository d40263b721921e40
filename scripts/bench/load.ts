import { execFile, spawnSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import { promisify } from 'node:util'
import type { Harness } from './harness.ts'
import { percentile } from './timing.ts'

const run = promisify(execFile)
export const CONNECTIONS = 64

export interface Call {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Load {
  /** Responses per second. */
  readonly rate: number
  readonly p99Ms: number
}

/** Saturates a path with 64 connections. Any response other than 2xx is an error. */
export async function saturate(harness: Harness, call: Call): Promise<Load> {
  const seconds = harness.quick ? 2 : 5
  const wrk = await harness.once('load generator', findWrk)
  return wrk === undefined ? builtInLoad(call, seconds) : wrkLoad(wrk, call, seconds)
}

/** Uses wrk from PATH, or installs it with apt as root. Undefined: there is none. */
async function findWrk(): Promise<string | undefined> {
  const found = () => spawnSync('wrk', ['-v']).error === undefined
  if (!found() && process.getuid?.() === 0)
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'wrk']).catch(() => undefined)
  return found() ? 'wrk' : undefined
}

async function wrkLoad(wrk: string, { url, headers = {} }: Call, seconds: number): Promise<Load> {
  const heads = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const { stdout } = await run(wrk, ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', ...heads, url])
  if (/Non-2xx/.test(stdout)) throw new Error(`${url} returned errors under load:\n${stdout}`)
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]
  const [, p99, unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? []
  const scale = { us: 0.001, ms: 1, s: 1_000 }[unit] ?? 1
  return { rate: Number(rate), p99Ms: Number(p99) * scale }
}

/** Used without wrk only: it is slower and uses the CPU of the server. */
async function builtInLoad(call: Call, seconds: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const times: number[] = []
  const until = performance.now() + seconds * 1_000
  const sendCalls = async (): Promise<void> => {
    while (performance.now() < until) times.push(await oneCall(call, agent))
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sendCalls))
  agent.destroy()
  return { rate: times.length / seconds, p99Ms: percentile(times, 99) }
}

/** Milliseconds until the whole response has arrived. */
export function oneCall({ url, headers = {} }: Call, agent: Agent): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const call = request(url, { agent, headers }, (answer) => {
      const status = answer.statusCode ?? 0
      answer.resume().once('end', () => {
        if (status >= 200 && status < 300) resolve(performance.now() - began)
        else reject(new Error(`${url} returned status ${status}, expected 2xx`))
      })
    })
    call.once('error', reject).end()
  })
}
