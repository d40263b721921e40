// `npm run tools:facts [-- --only NAME]`: measures what infra/tools.yaml says about tools with those that are installed
// here, in a network namespace with servers that count, and prints what differs.
import { spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { parse, stringify } from 'yaml'
import {
  boundVariables,
  readManifest,
  versionOf,
  type Facts,
  type Tool,
} from '../../packages/tools/src/index.ts'
import { findProgram } from '../services/programs.ts'
import { FactsLab, GONE, HOST, NO_NAME, PORTS, REFUSING, worstSecond } from './facts-lab.ts'

const LIMIT_MS = 180_000
const STOP_MS = 15_000
const BUSY_MS = 2_500
const POLL_MS = 20
const WORDS = 300
/** Counts and times that differ by less are the same. */
const SAME_FACTOR = 1.5
const SAME_SECONDS = 2

/** Limits of which two scans say how many the flags send, and how many more. */
const [FEW, MANY] = [5, 20]

/** How a tool is called; its arguments are separated by blanks. */
interface Recipe {
  readonly port: 'http' | 'tls'
  /** Without a limit. */
  readonly scan: string
  /** A scan that lasts longer than it is watched, of the port named `of`. */
  readonly long: { readonly of: 'slow' | 'silent' | 'tls'; readonly args: string }
  readonly rate?: { readonly of: 'packets' | 'connections' | 'requests'; readonly args: string }
}

const RECIPES = parse(readFileSync(join(import.meta.dirname, 'facts.yaml'), 'utf8')) as Record<string, Recipe>

type Stopped = Facts['stop']['term']
type Report = Stopped['report']

const reportOf = (path: string): Report => {
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  if (text === '' || text === '[]') return text === '' ? 'none' : 'complete'
  if (/<error>|scanProblem|Scan interrupted/.test(text)) return 'error'
  if (text.startsWith('<')) return text.endsWith(`</${/<(\w+)/.exec(text)?.[1]}>`) ? 'complete' : 'cut'
  if (!/^[[{]/.test(text)) return 'complete'
  try {
    JSON.parse(text)
    return 'complete'
  } catch {
    return 'cut'
  }
}

/** What still runs of the session of a process. */
const sessionOf = (pid: number): { readonly pid: number; readonly name: string }[] =>
  readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      const [, name = '', rest = ''] =
        /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? []
      const [state, , , session] = rest.split(' ')
      return Number(session) === pid && state !== 'Z' ? [{ pid: Number(entry), name }] : []
    } catch {
      // It has ended.
      return []
    }
  })

const endSession = (pid: number): void => {
  for (const one of sessionOf(pid))
    try {
      process.kill(one.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
}

const measure = async (
  lab: FactsLab,
  tool: Tool,
  program: string,
  recipe: Recipe,
): Promise<Omit<Facts, 'tried' | 'proxy'>> => {
  const report = join(lab.folder, 'report')
  const words = join(lab.folder, 'words')
  const at = (args: string, host: string, port: number): string[] =>
    args
      .replaceAll('{url}', 'http://{host}:{port}')
      .replaceAll('{host}', host)
      .replaceAll('{port}', String(port))
      .replaceAll('{report}', report)
      .replaceAll('{words}', words)
      .split(' ')
  writeFileSync(words, Array.from({ length: WORDS }, (_, index) => `word${index}\n`).join(''))

  const start = (args: readonly string[]): ChildProcess & { readonly pid: number } => {
    for (const path of [report, `${report}.session`, `${report}.config`])
      rmSync(path, { force: true, recursive: true })
    lab.counts.clear()
    const child = lab.spawn(program, args)
    child.stdout?.resume()
    child.stderr?.resume()
    return child as ChildProcess & { readonly pid: number }
  }
  const end = async (child: ChildProcess & { readonly pid: number }, limitMs: number): Promise<Stopped> => {
    const began = Date.now()
    const abort = new AbortController()
    const ended = once(child, 'exit').then(([code, signal]: unknown[]) =>
      typeof code === 'number' ? code : 128 + constants.signals[signal as NodeJS.Signals],
    )
    const exit = await Promise.race([ended, after(limitMs, 'running' as const, { signal: abort.signal })])
    abort.abort()
    const seconds = Math.round((Date.now() - began) / 100) / 10
    const left = sessionOf(child.pid).map(({ name }) => name)
    const found = {
      exit,
      report: reportOf(report),
      seconds,
      ...(exit !== 'running' && left.length > 0 ? { leaves: [...new Set(left)] } : {}),
    }
    endSession(child.pid)
    return found
  }
  const scan = async (host: string, port: number) => {
    const { exit, report: state } = await end(start(at(recipe.scan, host, port)), LIMIT_MS)
    return { exit, report: state }
  }
  const stop = async (signal: NodeJS.Signals): Promise<Stopped> => {
    const child = start(at(recipe.long.args, HOST, PORTS[recipe.long.of]))
    const before = lab.segments()
    while (lab.segments() === before && child.exitCode === null) await after(POLL_MS)
    await after(BUSY_MS)
    if (child.exitCode !== null) throw new Error(`it ended before ${signal}, with ${child.exitCode}`)
    child.kill(signal)
    return await end(child, STOP_MS)
  }
  /** The most in a second of a scan whose flags say `rate`. */
  const worst = async ({ of, args }: NonNullable<Recipe['rate']>, rate: number): Promise<number> => {
    const { facts: _, ...untried } = tool
    const [, limit = ''] = Object.values(boundVariables({ rate }, new Map([[tool.name, untried]])))
    const child = start(at(args.replace('{limit}', limit), of === 'packets' ? REFUSING : HOST, port))
    const packets: number[] = []
    let seen = lab.segments()
    while (child.exitCode === null) {
      const now = lab.segments()
      packets.push(...Array.from({ length: now - seen }, () => Date.now()))
      seen = now
      await after(POLL_MS)
    }
    return worstSecond(of === 'packets' ? packets : lab.counts[of])
  }
  const rateOf = async (limited: NonNullable<Recipe['rate']>): Promise<Facts['rate']> => {
    const [few, many] = [await worst(limited, FEW), await worst(limited, MANY)]
    const factor = Math.max(1, Math.round((100 * (many - few)) / (MANY - FEW)) / 100)
    const extra = Math.max(0, Math.round(few - factor * FEW))
    return { of: limited.of, factor, ...(extra > 0 ? { extra } : {}) }
  }

  const port = PORTS[recipe.port]
  await scan(HOST, port)
  const [connections, requests] = [lab.counts.connections, lab.counts.requests].map(worstSecond)
  const contacts = [...lab.counts.names].sort().map((name) => ({ name }))
  await scan(HOST, PORTS.redirects)
  const follows = lab.counts.other > 0
  return {
    ...(recipe.rate ? { rate: await rateOf(recipe.rate) } : {}),
    connections: connections ?? 0,
    requests: requests ?? 0,
    redirects: { follows },
    contacts,
    targets: {
      refused: await scan(REFUSING, port),
      gone: await scan(GONE, port),
      unresolved: await scan(NO_NAME, port),
    },
    stop: { term: await stop('SIGTERM'), int: await stop('SIGINT') },
  }
}

/** What differs, by path. What people wrote and no scan shows is left out. */
const differences = (stored: unknown, found: unknown, path = ''): string[] => {
  if (typeof found === 'number' && typeof stored === 'number') {
    const same = path.endsWith('.exit')
      ? stored === found
      : path.endsWith('.seconds')
        ? Math.abs(stored - found) <= SAME_SECONDS
        : Math.max(stored, found) <= SAME_FACTOR * Math.min(stored, found) + 1
    return same ? [] : [`${path}: ${stored} in the manifest, ${found} measured`]
  }
  if (typeof found === 'object' && found !== null && typeof stored === 'object' && stored !== null) {
    const [before, now] = [stored, found].map((value) => new Map(Object.entries(value)))
    const names = new Set([...(before?.keys() ?? []), ...(now?.keys() ?? [])])
    for (const byHand of ['tried', 'proxy', 'forbid', 'avoid', 'notes']) names.delete(byHand)
    return [...names].flatMap((name) =>
      differences(before?.get(name), now?.get(name), path === '' ? name : `${path}.${name}`),
    )
  }
  if (stored === found) return []
  return [
    `${path}: ${JSON.stringify(stored) ?? 'nothing'} in the manifest, ${JSON.stringify(found) ?? 'nothing'} measured`,
  ]
}

const measureAll = async (names: readonly string[]): Promise<void> => {
  await using lab = await FactsLab.start()
  const manifest = readManifest()
  for (const name of names) {
    const [recipe, tool, program] = [RECIPES[name], manifest.get(name), findProgram(name)]
    if (recipe === undefined || tool === undefined)
      throw new Error(`there is no recipe for ${name}: ${Object.keys(RECIPES).join(', ')}`)
    if (program === undefined) {
      console.log(`${name}: not installed here`)
      continue
    }
    const found = await measure(lab, tool, program, recipe)
    const version = await versionOf(tool, program)
    console.log(stringify({ [name]: { tried: version, ...found } }))
    const changed = tool.facts === undefined ? ['the manifest has no facts'] : differences(tool.facts, found)
    console.log(
      changed.length === 0
        ? `${name}: as in the manifest`
        : changed.map((line) => `${name}: ${line}`).join('\n'),
    )
    if (changed.length > 0) process.exitCode = 1
  }
}

const INSIDE = '--inside'
const args = process.argv.slice(2)
if (process.getuid?.() !== 0) {
  console.error('the lab is a network namespace, which requires root: run it as root')
  process.exitCode = 1
} else if (!args.includes(INSIDE)) {
  const own = [process.execPath, ...process.execArgv, ...process.argv.slice(1), INSIDE]
  process.exitCode =
    spawnSync('unshare', ['--net', '--mount', '--', ...own], { stdio: 'inherit' }).status ?? 1
} else {
  const only = args.indexOf('--only')
  await measureAll(only < 0 ? Object.keys(RECIPES) : (args[only + 1] ?? '').split(','))
}
