// long
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { checkParams } from '../src/flow/params.ts'
import { openLibrary } from '../src/library/open-library.ts'
import type { Param, ResolvedWorkflow, Workflow, WorkflowLibrary } from '@scanfarm/language'
import { resolveWorkflow } from '@scanfarm/language'
import { useRuns, WORKFLOWS } from './harness/runs.ts'

/** A fake tool: it records its arguments with separators, and writes the files that the next module reads. */
const RECORD = `#!/bin/sh
{ printf '%s\\001' "\${0##*/}" "$@"; printf '\\002'; } >> "$CALLS"
out= prev=
for arg in "$@"; do
  case $prev in -o|-oX) out=$arg ;; -oG) [ "$arg" = - ] || out=$arg ;; esac
  prev=$arg
done
`
const NMAP_XML =
  '<nmaprun><host><status state="up" reason="syn-ack"/><address addr="127.0.0.1" addrtype="ipv4"/><ports><port protocol="tcp" portid="9"><state state="open" reason="syn-ack"/><service name="http" tunnel="ssl"/></port></ports></host><runstats><finished exit="success"/><hosts up="1" down="0" total="1"/></runstats></nmaprun>'
const WRITES: Readonly<Record<string, string>> = {
  subfinder: `echo localhost > "$out"`,
  dnsx: `echo '{"host":"localhost","a":["127.0.0.1"],"status_code":"NOERROR"}' > "$out"`,
  httpx: `[ "$1" != -version ] || { echo 'Current Version: v1.7.0'; exit; }; echo '{"url":"http://localhost","host":"h","status_code":200}' > "$out"`,
  nmap: `case "$*" in *-sT*) printf 'Ports: 9/open/\\n# Nmap done at x -- 1 IP address\\n' > "$out" ;; *-oG*) printf 'Host: 127.0.0.7 ()\\tStatus: Up\\n# Nmap done at x -- 256 IP addresses\\n' > "$out" ;; *) echo '${NMAP_XML}' > "$out" ;; esac`,
  whatweb: `echo '[{"target":"https://127.0.0.1:9/","http_status":200,"plugins":{}}]' > whatweb.json`,
  sslscan: `out=$(printf '%s\n' "$@" | sed -n 's/^--xml=//p'); printf '%s\n' '<document title="SSLScan Results">' '<ssltest host="127.0.0.1" port="9">' '<protocol type="tls" version="1.3" enabled="1"/>' '</ssltest>' '</document>' > "$out"`,
  testssl: `while [ "$1" != --jsonfile ]; do shift; done; echo '[{"id":"TLS1","ip":"h/127.0.0.1","port":"9","severity":"OK","finding":"not offered"}]' > "$2"`,
  wapiti: `[ -n "$out" ] || { echo ' backup'; exit; }; echo '{"infos":{"target":"https://127.0.0.1:9/"},"vulnerabilities":{},"additionals":{}}' > "$out"; echo 'Wapiti found 1 URLs and forms'`,
  katana: `echo http://localhost/a > "$out"`,
  ffuf: `echo '{"results":[]}' > "$out"`,
  nuclei: `: > "$out"`,
  timeout: `shift; "$@"`,
  curl: `printf 'HTTP/1.1 200 OK\\n\\n'`,
  openssl: ':',
}

/**
 * All hosts are this machine, because each run would wait for one that does not respond. Small flows first: the path of a
 * module is tried in the first flow that has it.
 */
const FLOWS: Readonly<Record<string, string>> = {
  'service-survey': '127.0.0.1:9',
  url: 'http://localhost',
  list: 'mine',
  host: '127.0.0.10',
  cidr: '192.0.2.0/24',
  domain: 'example.com',
  baseline: '127.0.0.10',
}

const { folder, runResolved } = useRuns(
  Object.fromEntries(Object.entries(WRITES).map(([name, body]) => [name, `${RECORD}${body}\n`])),
)
let canary = ''
let file = ''
let library: WorkflowLibrary
beforeAll(async () => {
  canary = join(folder(), 'canary')
  file = join(folder(), 'file.txt')
  writeFileSync(file, 'localhost\n')
  library = await openLibrary([WORKFLOWS])
})

const workflowsOf = ({ root, modules }: ResolvedWorkflow): Workflow[] => [root, ...Object.values(modules)]

/** All params that a caller of the flow can set. */
const paramsOf = (resolved: ResolvedWorkflow): Param[] => [
  ...new Map(
    workflowsOf(resolved).flatMap(({ params = [] }) => params.map((one) => [one.name, one] as const)),
  ).values(),
]

/** Removes the types that refuse hostile values, so that only the positions of the values protect. */
const untyped = (resolved: ResolvedWorkflow): ResolvedWorkflow => {
  const strip = (workflow: Workflow): Workflow => ({
    ...workflow,
    params: (workflow.params ?? []).map(({ type, ...param }) =>
      type === 'args' ? { ...param, type } : param,
    ),
  })
  return {
    ...resolved,
    root: strip(resolved.root),
    modules: Object.fromEntries(Object.entries(resolved.modules).map(([name, one]) => [name, strip(one)])),
  }
}

/** Executes the workflow and returns the arguments of every call of a tool. */
const callsOf = async (workflow: ResolvedWorkflow, target: string, params: Record<string, string>) => {
  const { read } = await runResolved(workflow, { target, params })
  return read('calls')
    .split('\u0002')
    .slice(0, -1)
    .map((call) => call.split('\u0001').slice(0, -1))
}

const triedPaths = new Set<string>()
const isFirst = (path: string, resolved: ResolvedWorkflow): boolean => {
  const places = workflowsOf(resolved).flatMap(({ name, params = [] }) =>
    params.some((param) => param.name === path) ? [`${name} ${path}`] : [],
  )
  const fresh = places.filter((place) => !triedPaths.has(place))
  for (const place of fresh) triedPaths.add(place)
  return fresh.length > 0
}

const hostile = () => [
  `-code 3 touch ${canary}`,
  `"'; touch ${canary} ; \`touch ${canary}\` $(touch ${canary})`,
]

const inParallel = async <T>(cases: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const queue = cases.values()
  const next = async () => {
    for (const one of queue) await work(one)
  }
  await Promise.all(Array.from({ length: 4 }, next))
}

test('All shipped flows are tested', () => {
  const files = readdirSync(join(WORKFLOWS, 'flows')).filter((name) => name.endsWith('.yaml'))
  const names = files.map((name) => name.replace('.yaml', ''))
  expect(Object.keys(FLOWS).toSorted()).toEqual(names.toSorted())
})

describe.each(Object.entries(FLOWS))('the flow %s', (name, target) => {
  const resolved = () => resolveWorkflow(library, { name, kind: 'flow' })
  /** Params with which all modules of the flow run. */
  const basicParams = (): Record<string, string> => ({
    ...(name === 'baseline' ? { deep_tls: 'true' } : {}),
    ...(name === 'domain' ? { with_ports: 'true' } : {}),
    ...(name === 'list' ? { list_file: file } : {}),
    ...(name === 'url' ? { wordlist: file } : {}),
  })

  test(`Every param of ${name} declares a type`, () => {
    for (const { params = [], name: workflow } of workflowsOf(resolved()))
      for (const param of params) expect({ workflow, param }).toHaveProperty('param.type')
  })

  test(`${name} refuses values that are no number, choice or path at submission`, () => {
    for (const param of paramsOf(resolved())) {
      if (param.type === 'string' || param.type === 'args') continue
      const value = '-code --template evil.yaml'
      expect(checkParams(resolved(), { ...basicParams(), [param.name]: value })).toEqual([
        { path: `/params/${param.name}`, message: expect.stringContaining(value) },
      ])
    }
  })

  test(`${name} passes a hostile value to its tools as one word, and executes nothing of it`, async () => {
    const bare = untyped(resolved())
    const params = paramsOf(resolved()).filter(({ type }) => type !== 'args' && type !== 'bool')
    const paths = params.filter(({ type }) => type === 'path').map((param) => param.name)
    const newPaths = paths.filter((path) => isFirst(path, bare))
    const others = params.filter(({ type }) => type !== 'path').map((param) => param.name)
    const values = hostile()
    const cases = [
      ...values.flatMap((value, index) =>
        // A hostile path ends its flow early, so each goes alone, with the value that has all characters.
        [others, ...(index === values.length - 1 ? newPaths.map((one) => [one]) : [])].map((group) => ({
          workflow: bare,
          value,
          group,
        })),
      ),
      // With a type, a value is one word, so the one with all characters is enough.
      ...values.slice(-1).map((value) => ({ workflow: resolved(), value, group: others })),
    ]
    await inParallel(cases, async ({ workflow, value, group }) => {
      const given = Object.fromEntries(group.map((one) => [one, value]))
      const calls = await callsOf(workflow, target, { ...basicParams(), ...given })
      const fragments = value.split(' ')
      const found = calls.flat().filter((argument) => fragments.includes(argument))
      expect({ value, group, found }).toEqual({ value, group, found: [] })
      expect({ value, group, ran: existsSync(canary) }).toEqual({ value, group, ran: false })
    })
  }, 300_000)

  test(`${name} passes untyped values to its tools`, async () => {
    // Scripts of the survey start interpreters, so its params accept letters, digits and a few other characters only.
    const value = name === 'service-survey' ? '3:touch' : 'code --template evil.yaml'
    const others = paramsOf(resolved()).filter(({ type }) => type === 'int' || type === 'choice')
    const given = Object.fromEntries(others.map((param) => [param.name, value]))
    const calls = await callsOf(untyped(resolved()), target, { ...basicParams(), ...given })
    expect(calls.flat().filter((argument) => argument.includes(value))).not.toEqual([])
  })

  test(`${name} splits arguments by their quotes, and expands nothing`, async () => {
    const flags = paramsOf(resolved()).filter(({ type }) => type === 'args')
    const value = `-a "b c" $HOME * $(touch ${canary})`
    const given = Object.fromEntries(flags.map((param) => [param.name, value]))
    const calls = await callsOf(resolved(), target, { ...basicParams(), ...given })
    expect(existsSync(canary)).toBe(false)
    const split = calls.filter((call) => call.join('|').includes('-a|b c|$HOME|*|$(touch|'))
    expect(split.length > 0).toBe(flags.length > 0)
  })
})
