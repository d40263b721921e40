import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ConfigError } from '@scanfarm/platform'
import { boundVariables, factTexts, parseManifest, programsToInterrupt, readManifest } from '../src/index.ts'

const problemsOf = (text: string): readonly string[] => {
  try {
    parseManifest(text, 'tools.yaml')
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

const entry = (rest: string): string => `tools:
  scan:
    purpose: scans
    home: https://scan.example
    license: MIT
    version: '1.2'
${rest}`

const SHA = 'a'.repeat(64)
const ASK = "    ask: { args: [-V], pattern: 'v(.+)' }\n"

const FACTS = {
  tried: '1.2',
  rate: { of: 'packets', factor: 1.4, extra: 2 },
  connections: 5,
  requests: 9,
  redirects: { follows: true, forbid: '--stay' },
  contacts: [{ name: 'home.example', avoid: '--quiet' }],
  targets: { refused: { exit: 0, report: 'complete' }, gone: { exit: 1, report: 'none' } },
  stop: {
    term: { exit: 143, report: 'cut', seconds: 0.5, leaves: ['helper', 'sleep'] },
    int: { exit: 'running', report: 'none', seconds: 15 },
  },
  notes: ['it is slow'],
}

test('the shipped manifest has checksums for both architectures of each release file', () => {
  const manifest = readManifest()
  expect(manifest.get('nmap')).toMatchObject({ name: 'nmap', debian: 'nmap' })
  for (const { name, release } of manifest.values()) {
    if (release === undefined) continue
    const architectures = Object.keys(release.sha256)
    expect([name, architectures]).toEqual([name, release.sha256.any ? ['any'] : ['amd64', 'arm64']])
    expect(new Set(Object.values(release.sha256)).size).toBe(architectures.length)
    expect(release.url).toMatch(/^https:\/\/github\.com\/projectdiscovery\//)
  }
})

test('facts of a tool are shown as texts', () => {
  const manifest = parseManifest(
    entry(`    debian: scan\n${ASK}    limit: --rate {rate}\n    facts: ${JSON.stringify(FACTS)}\n`),
    'tools.yaml',
  )
  expect(factTexts(manifest.get('scan') ?? {})).toEqual([
    ['version tried', '1.2'],
    ['limit', '`--rate {rate}`: 1.4 times as many packets and 2 more in the worst second'],
    ['without a limit, in a second', '5 connections, 9 requests to a service'],
    ['proxy', 'none'],
    ['redirects to other hosts', 'follows; `--stay` forbids it'],
    ['looks up by itself', 'home.example (avoided by `--quiet`)'],
    ['target refuses', 'exit code 0, a report that looks complete'],
    ['target is gone', 'exit code 1, no report'],
    ['name has no address', 'takes no names'],
    ['SIGTERM', 'exit code 143, a report that is cut off, after 0.5 s; leaves helper and sleep running'],
    ['SIGINT', 'still runs, no report, after 15 s'],
    ['remark', 'it is slow'],
  ])
})

test('commands get arguments for each tool that hold a rate, by what was measured', () => {
  const facts = (rate: object): string =>
    `    facts: ${JSON.stringify({ ...FACTS, rate: { ...FACTS.rate, ...rate } })}\n`
  const variables = (limit: string, rate: object, most: number) =>
    boundVariables(
      { rate: most },
      parseManifest(entry(`    debian: scan\n${ASK}    limit: '${limit}'\n${facts(rate)}`), 'tools.yaml'),
    )
  expect(variables('--rate {rate}', {}, 20)).toEqual({ SCANFARM_RATE: '20', SCANFARM_ARGS_SCAN: '--rate 12' })
  expect(variables('-t 1 -p {seconds} --wait={ms}ms', { factor: 1 }, 10)).toEqual({
    SCANFARM_RATE: '10',
    SCANFARM_ARGS_SCAN: '-t 1 -p 0.125 --wait=125ms',
  })
  expect(variables('--rate {rate}', {}, 1)).toMatchObject({ SCANFARM_ARGS_SCAN: '--rate 0.714' })
  expect(variables('--wait={ms}', { factor: 1 }, 0.4)).toMatchObject({ SCANFARM_ARGS_SCAN: '--wait=2500' })
  expect(boundVariables({ rate: 0.5 })).toMatchObject({
    SCANFARM_ARGS_NMAP: '--max-rate 0.476',
    SCANFARM_ARGS_NUCLEI: '-rate-limit 1',
  })
  expect(boundVariables({ rate: 20 })).toMatchObject({
    SCANFARM_ARGS_NMAP: '--max-rate 19',
    SCANFARM_ARGS_NUCLEI: '-rate-limit 20',
  })
  const ofProxy = boundVariables({ rate: null, proxy: '127.0.0.1:81' })
  expect(ofProxy).toMatchObject({
    SCANFARM_PROXY: 'http://127.0.0.1:81',
    SCANFARM_ARGS_FFUF: '-x http://127.0.0.1:81',
    SCANFARM_ARGS_WAPITI: '--proxy http://127.0.0.1:81/',
  })
  expect(Object.keys(ofProxy)).not.toContain('SCANFARM_ARGS_SSLSCAN')
  expect(boundVariables({ rate: 10, proxy: '127.0.0.1:81' })).toMatchObject({
    SCANFARM_RATE: '10',
    SCANFARM_ARGS_FFUF: expect.stringMatching(/^-t 1 -p \S+ -x http:\/\/127\.0\.0\.1:81$/),
  })
  expect(boundVariables({ rate: null })).toEqual({})
})

test('entries of an own manifest replace the shipped ones of the same names, and others are added', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'scanfarm-manifest-')), 'tools.yaml')
  const own = entry(`    debian: scan\n${ASK}`)
  await writeFile(file, `${own}${own.replace('tools:\n', '').replace('  scan:', '  nmap:')}`)
  const manifest = readManifest(file)
  expect(manifest.get('nmap')).toMatchObject({ debian: 'scan', version: '1.2' })
  expect(manifest.get('scan')).toMatchObject({ debian: 'scan' })
  expect(manifest.get('nuclei')).toEqual(readManifest().get('nuclei'))
  expect(() => readManifest(`${file}.none`)).toThrow(`${file}.none cannot be read: it does not exist`)
})

test.each([
  [
    'facts without the limit',
    entry(`    debian: scan\n${ASK}    facts: ${JSON.stringify(FACTS)}\n`),
    /measured with `limit`, which is missing/,
  ],
  ['a limit without a value', entry(`    debian: scan\n${ASK}    limit: --slow\n`), /limit/],
  ['bad YAML', 'tools: {', /^tools.yaml:1: Flow map/],
  ['an empty file', '', /^tools.yaml: must be object$/],
  [
    'an unknown field',
    entry(`    debian: scan\n${ASK}    source: x\n`),
    /^tools.yaml:\d+: tools.scan.source: is not a known field$/,
  ],
  [
    'a missing field',
    entry(`    debian: scan\n${ASK}`).replace("    version: '1.2'\n", ''),
    /^tools.yaml:3: tools.scan.version: is required$/,
  ],
  ['no source', entry(ASK), /^tools.yaml:3: tools.scan: must have either `debian` or `release`$/],
  ['no question', entry('    debian: scan\n'), /tools.scan: must have `ask`/],
  [
    'a short checksum',
    entry(`    release: { url: 'http://a/b.zip', program: p, sha256: { amd64: abc } }\n${ASK}`),
    /^tools.yaml:7: tools.scan.release.sha256.amd64: must match pattern/,
  ],
  [
    'an unknown architecture',
    entry(`    release: { url: 'http://a/b.zip', program: p, sha256: { s390x: ${SHA} } }\n${ASK}`),
    /release.sha256.s390x: is not a known field/,
  ],
  [
    'a URL of another scheme',
    entry(`    release: { url: 'file:///b.zip', program: p, sha256: { amd64: ${SHA} } }\n${ASK}`),
    /release.url: must match pattern/,
  ],
  [
    'an unknown archive',
    entry(`    release: { url: 'http://a/b.rar', program: p, sha256: { amd64: ${SHA} } }\n${ASK}`),
    /release.url: must end with .zip, .tar.gz or .tgz/,
  ],
  [
    'program and folder',
    entry(`    release: { url: 'http://a/b.zip', program: p, folder: f, sha256: { amd64: ${SHA} } }\n${ASK}`),
    /release: must have either `program` or `folder`/,
  ],
  [
    'one checksum for a URL with {arch}',
    entry(`    release: { url: 'http://a/{arch}.zip', program: p, sha256: { any: ${SHA} } }\n${ASK}`),
    /release.sha256.any: is for files/,
  ],
  [
    'facts of an unknown kind of report',
    entry(`    debian: scan\n${ASK}    facts: ${JSON.stringify(FACTS).replaceAll('"cut"', '"torn"')}\n`),
    /facts.stop.term.report: must be one of/,
  ],
  [
    'a bad pattern',
    entry(`    debian: scan\n    ask: { args: [], pattern: '(' }\n`),
    /^tools.yaml:8: tools.scan.ask.pattern: is not a regular expression$/,
  ],
  [
    'a pattern without a group',
    entry(`    debian: scan\n    ask: { args: [], pattern: 'v' }\n`),
    /ask.pattern: must have a group/,
  ],
])('a manifest with %s is refused with the place of the error', (_, text, problem) => {
  expect(problemsOf(text)).toEqual([expect.stringMatching(problem)])
})

test('Tools whose report is better after INT than after TERM get INT, with twice the time that they took', () => {
  const found = programsToInterrupt(readManifest())
  expect(found.get('testssl')).toBe(15_000)
  expect(found.get('wapiti')).toBe(1_200)
  for (const name of ['nmap', 'masscan', 'ffuf', 'gobuster']) expect(found.has(name)).toBe(false)
})
