import { Readable } from 'node:stream'
import { expect, jest, test } from '@jest/globals'
import { readFindings, type ImportFormat } from '@scanfarm/findings'
import type { Step } from '@scanfarm/language'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(() => openHarness())

const call = (name: string, expression: string): Step => ({ name, type: 'function', function: expression })

const NUCLEI = (id: string) =>
  JSON.stringify({ 'template-id': id, info: { name: id, severity: 'high' }, 'matched-at': `http://a/${id}` })

const scan = async (lines: readonly string[]): Promise<number> => {
  const file = '{{Output}}/nuclei.jsonl'
  const [runId = 0] = await harness.submit([
    bash('scan', `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} > ${file}`),
    call('import', `db_import_vuln_from_file("", "${file}").total`),
    call('missing', 'db_import_vuln_from_file("", "{{Output}}/never-written.jsonl").total'),
    call('asset', 'db_quick_import_asset("", "www.a.test", "subdomain")'),
    call('read', 'db_select_vulnerabilities_filtered("", "high", "/one", "jsonl")'),
    call('count', 'db_total_urls("{{Output}}/nuclei.jsonl")'),
    call('open', 'db_select_vuln_high()'),
    call('report', 'write_report("{{Output}}/page.html")'),
    bash('page', 'cat {{Output}}/page.html'),
  ])
  const run = await harness.ended(runId)
  expect(run).toMatchObject({ status: 'completed', error_message: '' })
  await harness.store.scans.judge({ limit: 100, history: 10 })
  return runId
}

test('Functions of a run save its findings, and the next run marks missing ones as gone', async () => {
  await using _executor = harness.executor()
  const first = await scan([NUCLEI('one'), NUCLEI('two')])
  const outputs = (await harness.steps(first)).map(({ output }) => output.trim())
  expect(outputs[1]).toBe('2')
  expect(outputs[2]).toBe('0')
  expect(outputs[3]).toBe('true')
  expect(JSON.parse(outputs[4] ?? '')).toMatchObject({ vuln_info: 'one', workspace: expect.any(String) })
  expect(outputs[5]).toBe('2')
  expect(outputs[7]).toBe('true')
  for (const words of ['1 run of the job had not ended', 'New (2)', 'one', 'two', 'http://a/one'])
    expect(outputs[8]).toContain(words)
  const stored = await harness.store.runs.artifacts(String(first))
  expect(stored?.data).toContainEqual(
    expect.objectContaining({ name: 'page.html', artifact_type: 'report', content_type: 'html' }),
  )

  const second = await scan([NUCLEI('one')])
  const { data } = await harness.store.vulnerabilities.list({}, { offset: 0, limit: 10 })
  expect(data.map(({ vuln_info, state, times_seen }) => [vuln_info, state, times_seen]).sort()).toEqual([
    ['one', 'open', 2],
    ['two', 'gone', 1],
  ])
  const third = await scan([NUCLEI('one')])
  expect((await harness.steps(third)).map(({ output }) => output.trim())[6]).toBe('1')
  const diff = await harness.store.scans.compare(first, second, { limit: 10 })
  expect(diff.vulnerabilities).toMatchObject({ total_new: 0, gone: [{ before: { vuln_info: 'two' } }] })
  expect(diff.assets).toMatchObject({ total_new: 0, total_gone: 0, total_changed: 0 })
  const events = await harness.store.events.list({ source: 'executor' }, { offset: 0, limit: 100 })
  const topics = events.data.map(({ topic }) => topic)
  expect(topics.filter((topic) => topic === 'vuln.found')).toHaveLength(2)
  expect(topics.filter((topic) => topic === 'asset.discovered')).toHaveLength(1)
})

const SARIF = JSON.stringify({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'linter', rules: [{ id: 'R1', shortDescription: { text: 'A rule' } }] } },
      results: [
        {
          ruleIndex: 0,
          level: 'error',
          message: { text: 'bad' },
          locations: [{ physicalLocation: { artifactLocation: { uri: 'a.c' }, region: { startLine: 3 } } }],
        },
        { ruleId: 'R2', message: { text: 'worse' }, locations: [{ logicalLocations: [{ name: 'main' }] }] },
        {},
      ],
    },
  ],
})

const facts = ({
  vuln_info,
  vuln_title,
  vuln_desc,
  severity,
  confidence,
  asset_type,
  asset_value,
  tags,
}: Record<string, unknown>) =>
  // prettier-ignore
  JSON.stringify([vuln_info, vuln_title, vuln_desc, severity, confidence, asset_type, asset_value, tags])

test('Functions of a run read a file of findings like its upload does', async () => {
  await using _executor = harness.executor()
  const files: readonly (readonly [ImportFormat, string, string])[] = [
    ['nuclei', 'db_import_vuln_from_file', `${NUCLEI('same')}\nnothing`],
    ['sarif', 'db_import_sarif', SARIF],
  ]
  for (const [format, name, text] of files) {
    const [runId = 0] = await harness.submit([
      bash('write', `printf '%b' '${text.replaceAll('\n', '\\n')}' > {{Output}}/${format}`),
      call('import', `${name}("", "{{Output}}/${format}")`),
    ])
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
    const expected: string[] = []
    let errors = 0
    for await (const batch of readFindings(format, Readable.from([Buffer.from(text)]))) {
      expected.push(...batch.vulnerabilities.map((one) => facts({ ...one })))
      errors += batch.errors
    }
    const [, imported] = await harness.steps(runId)
    expect(JSON.parse(imported?.output ?? '')).toMatchObject({ new: expected.length, errors })
    const { data } = await harness.store.vulnerabilities.list({}, { offset: 0, limit: 100 })
    expect(data.map((one) => facts({ ...one }))).toEqual(expect.arrayContaining(expected))
  }
})

const TESTSSL = (...lines: readonly (readonly [host: string, id: string, severity: string])[]) =>
  JSON.stringify(
    lines.map(([host, id, severity]) => ({
      id,
      ip: `${host}/192.0.2.1`,
      port: '443',
      severity,
      finding: 'x',
    })),
  )
const MASSCAN = (...hosts: readonly string[]) =>
  JSON.stringify(hosts.map((ip) => ({ ip, ports: [{ port: 80, proto: 'tcp', status: 'open' }] })))

test('A tool that the timeout stops closes nothing, although it exits with 0 and leaves a complete report', async () => {
  await using _executor = harness.executor()
  const file = '{{Output}}/nuclei.jsonl'
  const reported = async (ids: readonly string[], then: string) => {
    const lines = ids.map((id) => `'${NUCLEI(id)}'`).join(' ')
    const [runId = 0] = await harness.submit([
      bash('scan', `trap 'exit 0' TERM; printf '%s\\n' ${lines} > ${file}; ${then}`, {
        timeout: then === 'exit' ? '10m' : '3s',
        on_error: [{ action: 'continue' }],
      }),
      call('import', `db_import_vuln_from_file("stopped", "${file}")`),
    ])
    const run = await harness.ended(runId)
    await harness.store.scans.judge({ limit: 100, history: 10 })
    const { data } = await harness.store.vulnerabilities.list(
      { workspace: ['stopped'] },
      { offset: 0, limit: 10 },
    )
    const states = Object.fromEntries(data.map(({ vuln_info, state }) => [vuln_info, state]))
    return { outcome: run?.outcome, states }
  }
  const open = { one: 'open', two: 'open' }
  expect(await reported(['one', 'two'], 'exit')).toMatchObject({ states: open })
  expect(await reported(['one'], 'while :; do sleep 0.1; done')).toEqual({ outcome: 'partial', states: open })
  expect(await reported(['one'], 'exit')).toMatchObject({ states: { one: 'open', two: 'gone' } })
})

/** Runs a workflow that imports a report. Returns the result of the import, and the state of each record by its value. */
const importReport = async (workspace: string, format: string, report: string) => {
  const [runId = 0] = await harness.submit([
    bash('scan', `printf '%s' '${report}' > {{Output}}/report`),
    call('import', `db_import_report("${workspace}", "${format}", "{{Output}}/report")`),
  ])
  const { status } = (await harness.ended(runId)) ?? {}
  await harness.store.scans.judge({ limit: 100, history: 10 })
  const [, step] = await harness.steps(runId)
  const page = { offset: 0, limit: 100 }
  const assets = await harness.store.assets.list({ workspace: [workspace] }, page)
  const findings = await harness.store.vulnerabilities.list({ workspace: [workspace] }, page)
  const records = [...assets.data, ...findings.data]
  return {
    status,
    result: step?.output ?? '',
    error: step?.error_message ?? '',
    sources: [...new Set(records.map(({ source }) => source))],
    states: Object.fromEntries(records.map(({ asset_value, state }) => [asset_value, state])),
  }
}

test('A report that names its hosts only closes records of hosts that answered', async () => {
  await using _executor = harness.executor()
  const scan = (report: string, format = 'testssl') => importReport('named', format, report)
  const both = TESTSSL(['a', 'TLS1', 'LOW'], ['b', 'TLS1', 'LOW'])
  const first = await scan(both)
  expect(first).toMatchObject({ status: 'completed', sources: ['testssl'] })
  expect(JSON.parse(first.result)).toMatchObject({
    new: 2,
    known: 0,
    merged: 0,
    errors: 0,
    total: 2,
    problems: [],
  })
  expect(first.states).toEqual({ 'a:443': 'open', 'b:443': 'open' })
  const failed = await scan(TESTSSL(['a', 'TLS1', 'OK'], ['b', 'scanProblem', 'FATAL']))
  expect(JSON.parse(failed.result)).toMatchObject({ errors: 1, total: 1 })
  expect(failed.states).toEqual({ 'a:443': 'gone', 'b:443': 'open' })
  expect((await scan(both)).states).toEqual({ 'a:443': 'open', 'b:443': 'open' })
  expect((await scan('')).states).toEqual({ 'a:443': 'open', 'b:443': 'open' })
  expect((await scan(TESTSSL(['a', 'TLS1', 'OK']))).states).toEqual({ 'a:443': 'gone', 'b:443': 'open' })
})

test('A report that does not name its hosts covers its whole scope, and its format is guessed', async () => {
  await using _executor = harness.executor()
  const scan = (report: string) => importReport('silent', 'guess', report)
  expect(await scan(MASSCAN('192.0.2.1', '192.0.2.2'))).toMatchObject({
    sources: ['masscan'],
    states: { '192.0.2.1:80': 'open', '192.0.2.2:80': 'open', '192.0.2.1': 'open', '192.0.2.2': 'open' },
  })
  expect((await scan(MASSCAN('192.0.2.1'))).states).toEqual({
    '192.0.2.1:80': 'open',
    '192.0.2.2:80': 'gone',
    '192.0.2.1': 'open',
    '192.0.2.2': 'gone',
  })
})

test('An empty file closes nothing if the tool also writes a report when it finds nothing', async () => {
  await using _executor = harness.executor()
  const scan = (format: string, report: string) => importReport('empty', format, report)
  const leak = JSON.stringify([{ RuleID: 'key', File: 'a.py', StartLine: 1, Match: 'x' }])
  expect((await scan('gitleaks', leak)).states).toEqual({ 'a.py:1': 'open' })
  const { status, result, states } = await scan('gitleaks', '')
  expect(JSON.parse(result)).toMatchObject({
    errors: 1,
    total: 1,
    problems: [{ reason: expect.stringContaining('is empty') }],
  })
  expect([status, states]).toEqual(['completed', { 'a.py:1': 'open' }])
  expect((await scan('gitleaks', '[]')).states).toEqual({ 'a.py:1': 'gone' })
})

/** The finding of each place: what scans see of it. */
const seenOf = async (workspace: string) => {
  const { data } = await harness.store.vulnerabilities.list(
    { workspace: [workspace] },
    { offset: 0, limit: 50 },
  )
  return Object.fromEntries(
    data.map((one) => [`${one.vuln_info} ${one.asset_value}`, [one.seen, one.seen_reason]]),
  )
}

test('What sent nothing back to nmap keeps its findings and assets', async () => {
  await using _executor = harness.executor()
  const host = (address: string, reason: string, ports: string) =>
    `<host><status state="up" reason="${reason}"/><address addr="${address}" addrtype="ipv4"/><ports>${ports}</ports></host>`
  const port = (number: number, state: string, reason: string) =>
    `<port protocol="tcp" portid="${number}"><state state="${state}" reason="${reason}"/>${
      state === 'open' ? '<script id="ftp-anon" output="Anonymous FTP login allowed"/>' : ''
    }</port>`
  const scan = (...hosts: readonly string[]) =>
    importReport('quiet', 'nmap', `<nmaprun start="1700000000">${hosts.join('')}</nmaprun>`)
  const open = [21, 2121, 2122].map((number) => port(number, 'open', 'syn-ack')).join('')
  await scan(host('192.0.2.1', 'reset', open), host('192.0.2.2', 'reset', port(21, 'open', 'syn-ack')))
  const later = await scan(
    host(
      '192.0.2.1',
      'user-set',
      port(21, 'open', 'syn-ack') + port(2121, 'filtered', 'no-response') + port(2122, 'closed', 'reset'),
    ),
    host('192.0.2.2', 'user-set', port(21, 'filtered', 'no-response')),
  )
  expect(later.states).toEqual({
    '192.0.2.1': 'open',
    '192.0.2.1:21': 'open',
    '192.0.2.1:2121': 'open',
    '192.0.2.1:2122': 'gone',
    '192.0.2.2': 'open',
    '192.0.2.2:21': 'open',
  })
  expect(await seenOf('quiet')).toEqual({
    'ftp-anon 192.0.2.1:21': ['open', ''],
    'ftp-anon 192.0.2.1:2121': ['unreachable', expect.stringContaining('firewall')],
    'ftp-anon 192.0.2.1:2122': ['gone', expect.any(String)],
    'ftp-anon 192.0.2.2:21': ['unreachable', expect.stringContaining('firewall')],
  })
})

test('A package that pip-audit could not check keeps its findings, and those of others are judged', async () => {
  await using _executor = harness.executor()
  const vulns = [{ id: 'PYSEC-1', fix_versions: [], aliases: [], description: 'x' }]
  const scan = (...dependencies: readonly object[]) =>
    importReport('packages', 'pip-audit', JSON.stringify({ dependencies, fixes: [] }))
  const both = ['Jin.ja', 'liby'].map((name) => ({ name, version: '1.0', vulns }))
  expect(JSON.parse((await scan(...both)).result)).toMatchObject({ new: 2, errors: 0 })
  const unchecked = { name: 'Jin.ja', skip_reason: 'Dependency not found on PyPI' }
  expect(await scan(unchecked, { name: 'liby', version: '1.1', vulns: [] })).toMatchObject({
    status: 'completed',
  })
  expect(await seenOf('packages')).toEqual({
    'PYSEC-1 Jin.ja@1.0': ['not_tested', expect.stringContaining('did not test jin.ja')],
    'PYSEC-1 liby@1.0': ['gone', expect.any(String)],
  })
})

test('A resource of a cluster that trivy could not scan keeps its findings, and those of others are judged', async () => {
  await using _executor = harness.executor()
  const found = [{ VulnerabilityID: 'CVE-2026-1', PkgName: 'org:a', InstalledVersion: '1', Severity: 'HIGH' }]
  const resource = (Name: string, more: object) => ({ Namespace: 'shop', Kind: 'Pod', Name, ...more })
  const scan = (...Resources: readonly object[]) =>
    importReport('cluster', 'guess', JSON.stringify({ ClusterName: 'demo', Resources }))
  const Results = [{ Target: 'nginx:1', Class: 'lang-pkgs', Vulnerabilities: found }]
  await scan(...['web', 'api'].map((name) => resource(name, { Results })))
  await scan(resource('web', { Error: 'the image cannot be pulled' }), resource('api', {}))
  expect(await seenOf('cluster')).toEqual({
    'CVE-2026-1 shop/Pod/web:org:a@1': ['not_tested', expect.stringContaining('did not test shop/Pod/web')],
    'CVE-2026-1 shop/Pod/api:org:a@1': ['gone', expect.any(String)],
  })
})

test('Findings at absolute paths keep their places when a later run also finds something in another folder', async () => {
  await using _executor = harness.executor()
  const scan = (...files: string[]) => {
    const leaks = files.map((File) => ({ RuleID: 'key', File, StartLine: 1, Match: `key of ${File}` }))
    return importReport('folders', 'gitleaks', JSON.stringify(leaks))
  }
  expect((await scan('/src/app/a', '/src/app/b')).states).toEqual({ 'a:1': 'open', 'b:1': 'open' })
  expect((await scan('/src/app/a', '/src/app/b', '/src/lib/c')).states).toEqual({
    'a:1': 'open',
    'b:1': 'open',
    '/src/lib/c:1': 'open',
  })
})

test('A report of an unknown format fails its step and says which formats exist', async () => {
  await using _executor = harness.executor()
  expect(await importReport('unknown', 'nessus', '{}')).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/"nessus" is unknown; use one of sarif, .*ffuf/),
  })
  expect(await importReport('unknown', '', '{}')).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/not recognised; name it if it is one of sarif .*ffuf \(-of json\)/),
  })
})

test('A line with ! in the file of reached hosts names a place that was not tested, and explains a failed step', async () => {
  await using _executor = harness.executor()
  const found = (...places: string[]) =>
    places
      .map((place) =>
        JSON.stringify({ 'template-id': place, info: { name: place, severity: 'low' }, 'matched-at': place }),
      )
      .join('\n')
  const scan = async (report: string, reached: string, step: string) => {
    const [runId = 0] = await harness.submit(
      [
        { ...bash('check', 'exit 3'), on_error: [{ action: 'continue' }] },
        bash('write', `printf '%s' '${report}' > {{Output}}/r; printf '${reached}' > {{Output}}/reached`),
        call('import', step),
      ],
      { targets: ['untested.test'] },
    )
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
    await harness.store.scans.judge({ limit: 100, history: 10 })
    const { data } = await harness.store.vulnerabilities.list(
      { workspace: ['untested.test'] },
      { offset: 0, limit: 10 },
    )
    return Object.fromEntries(data.map(({ vuln_info, seen }) => [vuln_info, seen]))
  }
  for (const [name, step] of [
    ['lines', 'db_import_vuln_from_file("", "{{Output}}/r", "{{Output}}/reached")'],
    ['report', 'db_import_report("", "nuclei", "{{Output}}/r", "{{Output}}/reached")'],
  ] as const) {
    const places = ['', ':81'].map((port) => `http://${name}${port}/x`)
    await scan(found(...places), `${name}\\n`, step)
    expect(await scan('', `${name}\\n`, step)).toMatchObject({
      [`http://${name}/x`]: 'not_tested',
      [`http://${name}:81/x`]: 'not_tested',
    })
    expect(await scan('', `${name}\\n! http://${name}:81/ it was silent\\n`, step)).toMatchObject({
      [`http://${name}/x`]: 'gone',
      [`http://${name}:81/x`]: 'not_tested',
    })
  }
})
