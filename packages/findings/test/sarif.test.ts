import { createReadStream } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import type { FindingContent } from '@scanfarm/contracts'
import { openReport } from '../src/index.ts'
import { bytesOf } from './records.ts'

type Part = Readonly<Record<string, unknown>>

const read = async (log: unknown, root?: string) => {
  const { format, batches } = await openReport('sarif', bytesOf(JSON.stringify(log), 65_536), root)
  const all = await Array.fromAsync(batches)
  return {
    format,
    found: all.flatMap(({ vulnerabilities }) => vulnerabilities),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    failures: all.reduce((sum, { failures }) => sum + failures, 0),
    failed: all.flatMap(({ failed }) => failed.files),
    reasons: all.flatMap(({ problems }) => problems.map(({ reason }) => reason)),
  }
}

const logOf = (results: readonly unknown[], run: Part = {}, driver: Part = {}) => ({
  runs: [{ results, tool: { driver: { name: 'Demo', ...driver } }, ...run }],
  version: '2.1.0',
})

const at = (uri: string, region: Part = {}): Part => ({
  physicalLocation: { artifactLocation: { uri }, region },
})
const result = (uri: string, line: number, more: Part = {}, region: Part = {}): Part => ({
  ruleId: 'r1',
  message: { text: 'Demo' },
  locations: [at(uri, { startLine: line, ...region })],
  ...more,
})
const override = (descriptor: Part, level?: string) => ({
  descriptor,
  configuration: { enabled: true, level },
})
const line = (text: string) => ({ snippet: { text } })
const identities = (found: readonly FindingContent[]) =>
  found.map(({ vuln_info, asset_value, fingerprint = '' }) =>
    fingerprint === ''
      ? `${vuln_info} ${asset_value}`
      : `${vuln_info} ${asset_value.replace(/:\d+$/, '')} ${fingerprint}`,
  )

describe('severity, confidence and tags', () => {
  const severitiesOf = async (rules: readonly Part[], run: Part = {}, driver: Part = { rules }) =>
    (
      await read(
        logOf(
          rules.map(({ id }, n) => result('a', n, { ruleId: id, level: 'note' })),
          run,
          driver,
        ),
      )
    ).found.map(({ severity }) => severity)

  const scored = ['9.0', 8.9, '7.0', '6.9', '4.0', '3.9', '0.1', '0.0'].map((score, n) => ({
    id: `s${n}`,
    properties: { 'security-severity': score },
  }))
  const bands = ['critical', 'high', 'high', 'medium', 'medium', 'low', 'low', 'low']

  test('A score is a severity by the bands of CVSS; without one the level counts', async () => {
    expect(await severitiesOf(scored)).toEqual(bands)
    expect(await severitiesOf([{ id: 'x' }])).toEqual(['low'])
  })

  test('The rule may be in an extension, which the result names or not', async () => {
    const tool = { driver: { name: 'Demo', rules: [] }, extensions: [{ name: 'pack', rules: scored }] }
    expect(await severitiesOf(scored, { tool })).toEqual(bands)
    const pointed = result('a', 1, { ruleId: undefined, rule: { index: 0, toolComponent: { index: 0 } } })
    expect((await read(logOf([pointed], { tool }))).found).toMatchObject([
      { vuln_info: 's0', severity: 'critical' },
    ])
  })

  test.each<[string, Part, Part, Partial<FindingContent>]>([
    [
      'a word of the result',
      { issue_severity: 'HIGH', issue_confidence: 'MEDIUM' },
      {},
      { severity: 'high', confidence: 'Firm' },
    ],
    [
      'a word behind a name',
      { 'demo/severity': 'Medium', 'demo/confidence': 'Low' },
      {},
      { severity: 'medium', confidence: 'Tentative' },
    ],
    [
      'a tag of the rule',
      {},
      { tags: ['security', 'MEDIUM', 'HIGH CONFIDENCE'] },
      { severity: 'medium', confidence: 'Certain', tags: ['Demo', 'security'] },
    ],
    ['a tag in small letters', {}, { tags: ['low', 'js'] }, { severity: 'low', tags: ['Demo', 'js'] }],
    ['the word itself', { default_severity: 'low', severity: 'critical' }, {}, { severity: 'critical' }],
    ['a precision', {}, { precision: 'very-high' }, { severity: 'high', confidence: 'Certain' }],
    [
      'a word at the end of a name',
      { DevSkimSeverity: 'Important', DevSkimConfidence: 'High' },
      { cwe: ['CWE-22'] },
      { severity: 'high', confidence: 'Certain', tags: ['Demo', 'CWE-22'] },
    ],
    ['a low precision', {}, { precision: 'low' }, { confidence: 'Tentative' }],
    [
      'a word and a precision',
      { confidence: 'low' },
      { precision: 'very-high' },
      { confidence: 'Tentative' },
    ],
    [
      'a smaller word, and CWEs without their word',
      { severity: 'MINOR' },
      { CWE: 79, 'cwe-id': ['CWE: 22'], cweIds: '20' },
      { severity: 'low', tags: ['Demo', 'CWE-79', 'CWE-22', 'CWE-20'] },
    ],
    ['a score of 0', { 'security-severity': '0.0' }, { 'security-severity': '9.8' }, { severity: 'high' }],
    [
      'words that are no severity',
      { severity: 'quick' },
      { 'problem.severity': 'recommendation' },
      { severity: 'high', confidence: 'Firm' },
    ],
  ])('The own word of the tool counts: %s', async (_name, ofResult, ofRule, expected) => {
    const rules = [{ id: 'r1', properties: ofRule, defaultConfiguration: { level: 'error' } }]
    const { found } = await read(logOf([result('a', 1, { properties: ofResult })], {}, { rules }))
    expect(found).toMatchObject([expected])
  })

  test.each<[string, readonly Part[], Part, string]>([
    ['its index', [override({ index: 0 }, 'error')], {}, 'high'],
    ['its id', [override({ id: 'r1' }, 'note')], {}, 'low'],
    ['its id, if the tool does not list it', [override({ id: 'r9' }, 'error')], { ruleId: 'r9' }, 'high'],
    ['its GUID', [override({ guid: 'g1' }, 'error')], { ruleId: undefined, rule: { guid: 'g1' } }, 'high'],
    [
      'another GUID',
      [override({ guid: 'g2' }, 'error')],
      { ruleId: undefined, rule: { guid: 'g1' } },
      'medium',
    ],
    ['nothing', [override({}, 'error')], { ruleId: undefined }, 'medium'],
    ['another index', [override({ index: 1 }, 'error')], {}, 'medium'],
    ['its id, without a level', [override({ id: 'r1' })], {}, 'medium'],
    ['its id, and the result has a level', [override({ id: 'r1' }, 'note')], { level: 'error' }, 'high'],
    [
      'its id, in another invocation',
      [override({ id: 'r1' }, 'error')],
      { provenance: { invocationIndex: 0 } },
      'medium',
    ],
    [
      'its id, in the invocation of the result',
      [override({ id: 'r1' }, 'error')],
      { provenance: { invocationIndex: 1 } },
      'high',
    ],
  ])('An invocation overrides the level of a rule by %s', async (_name, overrides, more, severity) => {
    const invocations = [{}, { ruleConfigurationOverrides: overrides }]
    const rules = [1, 2].map((n) => ({
      id: `r${n}`,
      guid: `g${n}`,
      defaultConfiguration: { level: 'warning' },
    }))
    const { found } = await read(logOf([result('a', 1, more)], { invocations }, { rules }))
    expect(found).toMatchObject([{ severity }])
  })

  test('CWEs come from tags, relationships and taxa', async () => {
    const cwe = { name: 'CWE', guid: 'g1' }
    const rules = [
      {
        id: 'r1',
        properties: { tags: ['external/cwe/cwe-079'] },
        relationships: [{ target: { id: '89', toolComponent: { name: 'CWE' } } }],
      },
    ]
    const taxonomies = [
      { ...cwe, taxa: [{ id: '20' }, { id: '22' }] },
      { name: 'OWASP', taxa: [{ id: '1' }] },
    ]
    const taxa = [
      { index: 1, toolComponent: { index: 0 } },
      { id: '20', toolComponent: { guid: 'g1' } },
      { index: 0, toolComponent: { index: 1 } },
    ]
    const { found } = await read(logOf([result('a', 1, { taxa })], { taxonomies }, { rules }))
    expect(found[0]?.tags).toEqual(['Demo', 'external/cwe/cwe-079', 'CWE-79', 'CWE-89', 'CWE-22', 'CWE-20'])
  })

  test('Suppressed and absent results are no findings, rejected suppressions are', async () => {
    const results = [
      {},
      { suppressions: [] },
      { suppressions: [{ kind: 'inSource' }] },
      { suppressions: [{ kind: 'external', status: 'accepted' }] },
      {
        suppressions: [
          { kind: 'external', status: 'accepted' },
          { kind: 'external', status: 'underReview' },
        ],
      },
      { suppressions: [{ kind: 'external', status: 'rejected' }] },
      { baselineState: 'absent' },
      { baselineState: 'unchanged' },
    ].map((more, n) => result('a', n, more))
    const { found, errors } = await read(logOf(results))
    expect(found.map(({ asset_value }) => asset_value)).toEqual(['a:0', 'a:1', 'a:4', 'a:5', 'a:7'])
    expect(errors).toBe(0)
  })
})

describe('messages and places', () => {
  test.each<[string, Part, string]>([
    ['an id with arguments', { id: 'm', arguments: ['x', 'y'] }, 'Use of x in {y}'],
    ['an id of the driver', { id: 'g' }, 'Global'],
    ['a text with arguments', { text: 'No {0}: {1}', arguments: ['a'] }, 'No a: {1}'],
    ['braces without arguments', { text: 'Close {{ and {0}' }, 'Close {{ and {0}'],
    ['Markdown alone', { markdown: '**Bold**' }, '**Bold**'],
    [
      'links to places',
      { text: 'From [the input](1) of [docs](https://a.example)' },
      'From the input of [docs](https://a.example)',
    ],
  ])('A message is read as %s', async (_name, message, title) => {
    const driver = {
      rules: [{ id: 'r1', messageStrings: { m: { text: 'Use of {0} in {{{1}}}' } } }],
      globalMessageStrings: { g: { text: 'Global' } },
    }
    expect((await read(logOf([result('a', 1, { message })], {}, driver))).found[0]?.vuln_title).toBe(title)
  })

  test('Places are found by index, and further places are named', async () => {
    const locations = [
      { physicalLocation: { artifactLocation: { index: 1 }, region: { startLine: 3 } } },
      at('b.c', { startLine: 4 }),
    ]
    const logical = { locations: [{ logicalLocations: [{ index: 0 }] }] }
    const run = {
      artifacts: [{}, { location: { uri: 'src/a.c' } }],
      logicalLocations: [{ fullyQualifiedName: 'demo.Main.run' }],
    }
    const { found } = await read(logOf([result('', 0, { locations }), result('', 0, logical)], run))
    expect(found).toMatchObject([
      { asset_value: 'src/a.c:3', vuln_desc: expect.stringContaining('Also at: b.c:4') },
      { asset_value: 'demo.Main.run' },
    ])
  })

  test('A place on the web is a URL', async () => {
    const { found } = await read(logOf([result('HTTPS://A.example/x%20y', 1)]))
    expect(found).toMatchObject([{ asset_type: 'web', asset_value: 'https://a.example/x%20y' }])
  })

  test.each<[string, string, Part, string | undefined]>([
    ['as it is', 'my dir/ünï.py', {}, undefined],
    ['with a dot', './my dir/ünï.py', {}, undefined],
    ['encoded', 'my%20dir/%C3%BCn%C3%AF.py', {}, undefined],
    ['decomposed', 'my dir/u\u0308ni\u0308.py', {}, undefined],
    [
      'in the folder of the report',
      'file:///src/proj/my%20dir/%C3%BCn%C3%AF.py',
      { originalUriBaseIds: { ROOT: { uri: 'file:///src/proj/' } } },
      undefined,
    ],
    [
      'in the working folder',
      '/src/proj/my dir/ünï.py',
      { invocations: [{ executionSuccessful: true, workingDirectory: { uri: 'file:///src/proj' } }] },
      undefined,
    ],
    ['in the folder of the import', 'file:///src/proj/my%20dir/ünï.py', {}, '/src/proj'],
    [
      'below the folder of all files',
      '/src/proj/my dir/ünï.py',
      { artifacts: [{ location: { uri: '/src/proj/b.py' } }] },
      undefined,
    ],
    ['on Windows', 'file:///C:/src/proj/my%20dir/ünï.py', {}, 'C:\\src\\proj'],
    ['with backslashes', 'my dir\\ünï.py', {}, undefined],
    ['with both slashes', 'c:\\src\\proj/my dir\\ünï.py', {}, 'C:/src/proj'],
    ['with an encoded drive', 'file:///c%3A/src/proj/my dir/ünï.py', {}, 'C:\\src\\proj'],
    ['behind other folders', 'x/../my dir//./ünï.py', {}, undefined],
    ['with a link to the line', 'my%20dir/%C3%BCn%C3%AF.py#L3-L4', {}, undefined],
    ['behind the scheme', 'file://./my%20dir/ünï.py', {}, undefined],
  ])('A path is the same place however it is written: %s', async (_name, uri, run, root) => {
    const { found } = await read(logOf([result(uri, 3)], run), root)
    expect(found[0]?.asset_value).toBe('my dir/ünï.py:3')
  })

  test('A base in another base is a folder of the checkout', async () => {
    const place = { physicalLocation: { artifactLocation: { uri: 'a.py', uriBaseId: 'SUB' } } }
    const originalUriBaseIds = { SUB: { uri: 'sub/', uriBaseId: 'ROOT' }, ROOT: { uri: 'file:///src/' } }
    const { found } = await read(logOf([result('', 0, { locations: [place] })], { originalUriBaseIds }))
    expect(found[0]?.asset_value).toBe('sub/a.py')
  })

  test('A path may lead out of its base, which for ktlint is the home of the user', async () => {
    const place = {
      physicalLocation: { artifactLocation: { uri: '../../ci/x/src/A.kt', uriBaseId: 'HOME' } },
    }
    const run = { originalUriBaseIds: { HOME: { uri: 'file:///home/ann/' } } }
    const log = logOf([result('', 0, { locations: [place] })], run)
    expect((await read(log, '/ci/x')).found[0]?.asset_value).toBe('src/A.kt')
    expect((await read(log)).found[0]?.asset_value).toBe('/ci/x/src/A.kt')
  })

  test('A base that is only the folder of the report is no folder', async () => {
    const base = { physicalLocation: { artifactLocation: { uri: 'a.py', uriBaseId: 'ROOT' } } }
    const run = { originalUriBaseIds: { ROOT: { uri: 'file://./' } } }
    const log = logOf([result('', 0, { locations: [base] }), result('/ci/x/b.py', 1)], run)
    expect((await read(log)).found[0]?.asset_value).toBe('a.py')
    const { found } = await read({ ...log, runs: [{ ...log.runs[0], results: [result('/ci/x/b.py', 1)] }] })
    expect(found[0]?.asset_value).toBe('b.py:1')
  })

  test('cppcheck lists the steps that lead to the place', async () => {
    const locations = [at('a.c', { startLine: 5 }), at('b.c', { startLine: 8 })]
    const results = [result('', 0, { locations })]
    const placeOf = async (name: string) => (await read(logOf(results, {}, { name }))).found[0]?.asset_value
    expect([await placeOf('Cppcheck'), await placeOf('Demo')]).toEqual(['b.c:8', 'a.c:5'])
  })

  test('Two runs of a report have one folder, so that files of the same name stay apart', async () => {
    const run = (uri: string) => ({ tool: { driver: { name: 'Demo' } }, results: [result(uri, 1)] })
    const { found } = await read({ version: '2.1.0', runs: [run('/src/a.c'), run('/src/lib/a.c')] })
    expect(found.map(({ asset_value }) => asset_value)).toEqual(['a.c:1', 'lib/a.c:1'])
  })

  test.each<[string, string[], string, string | undefined]>([
    [
      'is that of a relative one',
      ['src/a.py', '/ci/x/src/a.py', '/ci/x/b.py', '/usr/c.h'],
      'src/a.py b.py /usr/c.h',
      undefined,
    ],
    ['has the same name at the top', ['a.py', '/ci/x/a.py', '/ci/x/lib/b.py'], 'a.py lib/b.py', undefined],
    ['only has the name of another', ['a.py', '/lib/a.py', '/ci/b.py'], 'a.py /lib/a.py /ci/b.py', undefined],
    ['is in the folder of the import', ['src/a.py', '/src/p/src/a.py', '/src/p/b'], 'src/a.py b', '/src/p'],
  ])('An absolute path among relative ones: it %s', async (_name, uris, places, root) => {
    const { found } = await read(logOf(uris.map((uri) => result(uri, 1))), root)
    const files = found.map(({ asset_value }) => asset_value.replace(/:1$/, ''))
    expect([...new Set(files)].join(' ')).toBe(places)
  })

  test('A result without a place is at its tool, so that it has an identity', async () => {
    const { found } = await read(
      logOf([result('', 0, { locations: [] }), result('', 0, { locations: null })]),
    )
    expect(found).toMatchObject([
      { asset_type: 'other', asset_value: 'Demo' },
      { asset_type: 'other', asset_value: 'Demo' },
    ])
  })

  test('A name that is not encoded correctly stays as it is', async () => {
    expect((await read(logOf([result('100%.py', 1)]))).found[0]?.asset_value).toBe('100%.py:1')
  })
})

describe('identity', () => {
  test('Results of one line are told apart by their columns, and equal ones are equal', async () => {
    const { found } = await read(
      logOf(
        [5, 9, 9].map((startColumn, n) =>
          result('min.js', 1, { level: n === 0 ? 'error' : 'note' }, { startColumn }),
        ),
      ),
    )
    expect(identities(found)).toEqual([
      'r1 min.js line 1 column 5',
      'r1 min.js line 1 column 9',
      'r1 min.js line 1 column 9',
    ])
  })

  test('Results of a binary file are told apart by their offsets', async () => {
    const inBinary = (byteOffset: number) =>
      result('', 0, {
        locations: [{ physicalLocation: { artifactLocation: { uri: 'a.bin' }, region: { byteOffset } } }],
      })
    const { found } = await read(logOf([inBinary(16), inBinary(99), inBinary(16)]))
    expect(identities(found)).toEqual(['r1 a.bin column 16', 'r1 a.bin column 99', 'r1 a.bin column 16'])
    const withLine = await read(logOf([result('a.c', 3, {}, { charOffset: 40 })]))
    expect(identities(withLine.found)).toEqual(['r1 a.c:3'])
  })

  test('Results at addresses of a binary are told apart, and one without a place is in the file that was looked at', async () => {
    const physical = { artifactLocation: { uri: 'a.dll' } }
    const at = (absoluteAddress: number) => ({
      physicalLocation: { ...physical, address: { absoluteAddress } },
    })
    const places = [[at(4096)], [at(8192)], []].map((locations) =>
      result('', 0, { locations, analysisTarget: { uri: 'b.dll' } }),
    )
    expect(identities((await read(logOf(places))).found)).toEqual([
      'r1 a.dll column 4096',
      'r1 a.dll column 8192',
      'r1 b.dll',
    ])
  })

  test('Results that only differ in their message are not the same', async () => {
    const { found } = await read(
      logOf(['a', 'b', 'a'].map((text) => result('go.sum', 1, { message: { text } }))),
    )
    expect(new Set(identities(found)).size).toBe(2)
  })

  test('Results that differ in what is said at one of their places are not the same', async () => {
    const place = at('a.yml', { startLine: 1, ...line('run') })
    const said = ['x', 'y', 'x'].map((text) =>
      result('', 0, { locations: [place, { ...place, message: { text } }] }),
    )
    expect(new Set(identities((await read(logOf(said))).found)).size).toBe(2)
  })

  test('Checks of zizmor kept their names when it put its own in front', async () => {
    const results = ['artipacked', 'zizmor/artipacked'].map((ruleId) => result('a.yml', 1, { ruleId }))
    const { found } = await read(logOf(results, {}, { name: 'zizmor' }))
    expect(new Set(identities(found))).toEqual(new Set(['zizmor/artipacked a.yml:1']))
  })

  test('A result that names no rule has none', async () => {
    const rules = [{ id: 'r1', shortDescription: { text: 'Other' } }]
    const { found } = await read(logOf([result('a', 1, { ruleId: null })], {}, { rules }))
    expect(found[0]).toMatchObject({ vuln_info: '', vuln_title: 'Demo', vuln_desc: 'Demo' })
  })

  test('A line on top of a file changes no identity where the tool gives the text of the line', async () => {
    const lines = ['eval(a)', 'eval(b)', 'eval(a)', '    eval(a)']
    const fileOf = (first: number, changed: Part = {}) =>
      logOf(lines.map((text, n) => result('a.py', first + n, changed, { startColumn: 1, ...line(text) })))
    const before = await read(fileOf(1))
    const after = await read(fileOf(2, { message: { text: 'Demo of version 2' } }))
    expect(new Set(identities(before.found)).size).toBe(4)
    expect(identities(after.found)).toEqual(identities(before.found))
    expect(after.found[0]?.asset_value).toBe('a.py:2')
  })

  test('The text of the line may stand in the lines around the result', async () => {
    const around = (startLine: number) => ({
      ruleId: 'r1',
      message: { text: 'Demo' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'a.tf' },
            region: { startLine },
            contextRegion: { startLine: startLine - 1, snippet: { text: 'a {\r\n  b = 1\r\n}' } },
          },
        },
      ],
    })
    const text = await read(logOf([result('a.tf', 5, {}, line('b = 1'))]))
    for (const first of [5, 8])
      expect(identities((await read(logOf([around(first)]))).found)).toEqual(identities(text.found))
  })

  test('A logical place is named by those around it', async () => {
    const logicalLocations = [
      { name: 'a' },
      { name: 'f', parentIndex: 0 },
      { name: 'b' },
      { name: 'f', parentIndex: 2 },
    ]
    const inside = (index: number) => ({
      ruleId: 'r1',
      message: { text: 'Demo' },
      locations: [{ logicalLocations: [{ index }] }],
    })
    const { found } = await read(logOf([inside(1), inside(3)], { logicalLocations }))
    expect(found.map(({ asset_value }) => asset_value)).toEqual(['a.f', 'b.f'])
  })

  test('Fingerprints of tools count where they differ between results', async () => {
    const hash = (digit: string) => ({ fingerprints: { 'demo/v1': `${digit.repeat(32)}_0` } })
    const { found } = await read(
      logOf([result('a.py', 1, hash('a1')), result('a.py', 1, hash('b2')), result('a.py', 2, hash('b2'))]),
    )
    expect(new Set(identities(found)).size).toBe(3)
    const moved = await read(logOf([result('a.py', 8, hash('a1')), result('a.py', 9, hash('b2'))]))
    expect(identities(moved.found)).toEqual(identities(found).slice(0, 2))
  })

  const hint = (...[key, name]: [string, string]) =>
    key === 'message'
      ? result('lock', 1, { locations: [{ ...at('lock', { startLine: 1 }), message: { text: name } }] })
      : result('lock', 1, { partialFingerprints: { [key]: name } })
  test.each(['demo/advisory-fingerprint', 'message'])(
    'What the %s says tells results of one line apart, also when another one is mended',
    async (key) => {
      const [left, right] = ['RUSTSEC-2099-1:left:1.0.0', 'RUSTSEC-2099-1:right:1.0.0']
      const two = await read(logOf([hint(key, left), hint(key, right)]))
      expect(new Set(identities(two.found)).size).toBe(2)
      const one = await read(logOf([hint(key, right)]))
      expect(identities(one.found)).toEqual(identities(two.found).slice(1))
    },
  )

  test.each([
    ['4', '12'],
    ['requires login', 'requires login'],
    ['', ''],
    ['0f'.repeat(16), '0f'.repeat(16)],
    ['src/app/main.py:r1:1', 'src/app/main.py:r1:2'],
  ])(
    'A fingerprint that is the same for all results, a number, or ends with a line, does not count: %j',
    async (first, second) => {
      const { found } = await read(
        logOf(
          [first, second].map((value, n) =>
            result('a.py', n + 1, { fingerprints: { 'fingerprint/v1': value } }),
          ),
        ),
      )
      expect(identities(found)).toEqual(['r1 a.py:1', 'r1 a.py:2'])
    },
  )

  test('One secret in three commits is three findings, and stays so when another commit is added', async () => {
    const secret = (digit: string) =>
      result(
        'conf.ini',
        1,
        { partialFingerprints: { commitSha: digit.repeat(40), author: 'a' } },
        line('REDACTED'),
      )
    const { found } = await read(logOf(['1', '2', '3'].map(secret)))
    expect(new Set(identities(found)).size).toBe(3)
    const { found: first } = await read(logOf([secret('1')]))
    expect(identities(first)).toEqual(identities(found).slice(0, 1))
  })

  test('kingfisher has the commit at the place, and its number says nothing that lasts', async () => {
    const secret = (fingerprint: string, commit?: string) => {
      const properties = { git_metadata: { commit: { id: commit?.repeat(40) } } }
      const locations = [{ ...at('a.ini', { startLine: 2, ...line('key') }), properties }]
      return result('', 0, { locations, partialFingerprints: { fingerprint } })
    }
    const idsOf = async (...secrets: Part[]) => identities((await read(logOf(secrets))).found)
    const same = '2615498609271891477'
    expect(new Set(await idsOf(secret(same, 'a'), secret(same, 'b'), secret(same))).size).toBe(3)
    expect(await idsOf(secret(same))).toEqual(await idsOf(secret('5903202867789453689')))
  })

  test.each([
    ['gitleaks', 'gitleaks-git.json'],
    ['gosec', 'gosec-demo.json'],
  ] as const)('A report of %s and its SARIF have the same severities and identities', async (tool, json) => {
    const told = async (name: string) => {
      const body = createReadStream(new URL(`reports/${name}`, import.meta.url))
      const { batches } = await openReport(undefined, body)
      return (await Array.fromAsync(batches)).flatMap(({ vulnerabilities }) =>
        vulnerabilities.map((one) =>
          [one.vuln_info, one.severity, one.asset_value, one.fingerprint].join(' '),
        ),
      )
    }
    const found = await told(json)
    expect(found.length).toBeGreaterThan(0)
    expect(await told(`${tool}.sarif`)).toEqual(found)
  })

  test('A logical place tells results apart where the tool gives no line', async () => {
    const inMethod = (name: string, startLine: number) =>
      result('', 0, {
        locations: [{ ...at('A.java', { startLine }), logicalLocations: [{ fullyQualifiedName: name }] }],
      })
    const before = await read(logOf([inMethod('A.a', 3), inMethod('A.b', 9)]))
    const after = await read(logOf([inMethod('A.a', 4), inMethod('A.b', 10)]))
    expect(new Set(identities(before.found)).size).toBe(2)
    expect(identities(after.found)).toEqual(identities(before.found))
  })
})

describe('scans that failed', () => {
  const notification = (more: Part) => ({
    executionSuccessful: true,
    toolConfigurationNotifications: [{ level: 'error', message: { text: 'cannot be read' }, ...more }],
  })

  const NOTIFICATIONS = ['warning', 'error'].map((level, n) => ({
    id: `n${n + 1}`,
    defaultConfiguration: { level },
  }))

  test.each([true, false])(
    'A file that could not be read is named, and the others were scanned (successful: %s)',
    async (executionSuccessful) => {
      const unread = notification({ locations: [at('file:///src/broken.py'), at('/src/b%20c.py')] })
      const invocations = [{ ...unread, executionSuccessful }]
      const originalUriBaseIds = { ROOT: { uri: 'file:///src/' } }
      expect(await read(logOf([], { invocations, originalUriBaseIds }))).toMatchObject({
        errors: 2,
        failures: 2,
        failed: ['broken.py', 'b c.py'],
        reasons: ['broken.py: cannot be read', 'b c.py: cannot be read'],
      })
    },
  )

  test.each([
    'invalid-syntax',
    'E999',
    'E0000',
    'E0003',
    'fs/cantRead',
    'parse',
    'OXL0001',
    'DL1000',
    'load-failure[x]',
    'CssSyntaxError',
    'Lint/Syntax',
    'PRS',
    'SC1073',
    'unknownMacro',
    'com.puppycrawl.tools.checkstyle.Checker',
  ])('A result %s says that its file was not read', async (ruleId) => {
    const results = [result('a.py', 1), result('b.py', 2, { ruleId })]
    const log = await read(logOf([...results, result('', 0, { ruleId, locations: [] })]))
    expect(identities(log.found)).toEqual(['r1 a.py:1'])
    expect(log).toMatchObject({ errors: 2, failures: 1, failed: ['b.py'] })
  })

  test.each([
    ['golangci-lint', 'typecheck'],
    ['Staticcheck', 'compile'],
    ['mypy', 'syntax'],
  ])('After a file that %s could not read, other files lack results', async (name, ruleId) => {
    const log = await read(logOf([result('a/b.go', 2, { ruleId })], {}, { name }))
    expect(log).toMatchObject({ found: [], errors: 1, failures: 0, reasons: ['a/b.go: Demo'] })
  })

  test('A message says that a file was not read where the rule does not', async () => {
    const said = (file: string, ruleId: string | null, text: string) =>
      result(file, 1, { ruleId, message: { text } })
    const log = await read(
      logOf([
        said('a.py', null, 'SyntaxError: Expected an expression'),
        said('b.yaml', 'parser', 'Unexpected end of the stream'),
        said('c.yaml', 'parser', 'Duplicate key: title'),
        said('g.kt', '', 'Not a valid Kotlin file (1:6 name expected)'),
        said('d.go', '', 'invalid file d.go: d.go:2:14: expected )'),
        said('e.yml', 'syntax-check', 'could not parse as YAML: did not find expected ]'),
        said('f.yml', 'syntax-check', 'unexpected key "job"'),
      ]),
    )
    expect(log).toMatchObject({ errors: 5, failures: 5, failed: ['a.py', 'b.yaml', 'g.kt', 'd.go', 'e.yml'] })
    expect(identities(log.found)).toEqual(['parser c.yaml:1', 'syntax-check f.yml:1'])
  })

  test('PMD goes on behind a file that it cannot parse', async () => {
    const exception = { message: 'ParseException' }
    const invocation = {
      executionSuccessful: false,
      toolExecutionNotifications: [{ message: { text: 'Line 3' }, exception, locations: [at('B.java')] }],
    }
    const log = await read(logOf([result('A.java', 1)], { invocations: [invocation] }, { name: 'PMD' }))
    expect(log).toMatchObject({ errors: 1, failures: 1, failed: ['B.java'], reasons: ['B.java: Line 3'] })
  })

  test('semgrep warns of a file that it read in part, and names it only in the text', async () => {
    const texts = [
      'Syntax error at line my dir/a.py:2:\n `x` was unexpected',
      'Timeout when running r.x on b.js:\n slow',
    ]
    const warnings = texts.map((text) => ({ level: 'warning', message: { text } }))
    const invocation = { executionSuccessful: true, toolExecutionNotifications: warnings }
    const log = await read(logOf([result('c.py', 1)], { invocations: [invocation] }, { name: 'Semgrep OSS' }))
    expect(log).toMatchObject({ errors: 2, failures: 2, failed: ['my dir/a.py', 'b.js'] })
  })

  test('What tflint could not do are the results of another tool', async () => {
    const log = await read(logOf([result('main.tf', 2, { level: 'error' })], {}, { name: 'tflint-errors' }))
    expect(log).toMatchObject({ found: [], errors: 1, failures: 0, reasons: ['main.tf: Demo'] })
  })

  test.each<[string, Part, string]>([
    [
      'it was not successful',
      { executionSuccessful: false, exitCode: 2, exitCodeDescription: 'no config' },
      'Demo failed with exit code 2: no config',
    ],
    ['it ended with an exit code and without results', { exitCode: 3 }, 'Demo failed with exit code 3'],
    ['an error names no file', notification({}), 'cannot be read'],
    [
      'nothing names the folder of a file',
      notification({ locations: [at('file:///src/a.py')] }),
      '/src/a.py: cannot be read',
    ],
    [
      'a notification was made an error',
      {
        ...notification({ level: undefined, descriptor: { id: 'n1' } }),
        notificationConfigurationOverrides: [override({ id: 'n1' }, 'error')],
      },
      'cannot be read',
    ],
    ['an exception says it', notification({ message: {}, exception: { message: 'boom' } }), 'boom'],
    [
      'a notification is an error by default',
      notification({ level: undefined, descriptor: { index: 1 } }),
      'cannot be read',
    ],
  ])('A scan failed as a whole if %s', async (_name, invocation, reason) => {
    const read1 = await read(logOf([], { invocations: [invocation] }, { notifications: NOTIFICATIONS }))
    expect(read1).toMatchObject({ errors: 1, failures: 0, reasons: [reason] })
  })

  const ofFile = { message: { text: 'x' }, level: 'error', locations: [at('a.py')] }
  test.each<[string, Part, readonly Part[]]>([
    ['an exit code says so', { exitCode: 2 }, [ofFile]],
    ['a signal ended it', { exitSignalNumber: 9 }, [ofFile]],
    ['the tool crashed at a file', {}, [{ ...ofFile, exception: { kind: 'Error' } }]],
    ['another error names no file', {}, [ofFile, { ...ofFile, locations: [] }]],
  ])(
    'A scan without success also failed as a whole if %s',
    async (_name, more, toolExecutionNotifications) => {
      const invocation = { executionSuccessful: false, toolExecutionNotifications, ...more }
      const { errors, failures } = await read(logOf([result('a', 1)], { invocations: [invocation] }))
      expect(errors - failures).toBeGreaterThan(0)
    },
  )

  test('Results in another file are not there', async () => {
    const run = { externalPropertyFileReferences: { results: [{ location: { uri: 'more.sarif' } }] } }
    expect((await read(logOf([], run))).reasons).toEqual([expect.stringContaining('more.sarif')])
  })

  test.each<[string, unknown]>([
    ['no results', logOf([])],
    ['results that are null', { ...logOf([]), runs: [{ ...logOf([]).runs[0], results: null }] }],
    ['a warning', logOf([], { invocations: [notification({ level: 'warning' })] })],
    ['an exit code that means results', logOf([result('a', 1)], { invocations: [{ exitCode: 1 }] })],
    ['no runs', { version: '2.1.0', runs: [] }],
  ])('A scan did not fail that has %s', async (_name, log) => {
    expect((await read(log)).errors).toBe(0)
  })

  test('Of a file that is cut short the complete results count, and the rest is an error with its line', async () => {
    const text = JSON.stringify(logOf([result('a', 1), result('b', 2)]), undefined, 1)
    const cut = text.slice(0, text.indexOf('"b"'))
    const { batches } = await openReport('sarif', bytesOf(cut, 100))
    const [batch] = await Array.fromAsync(batches)
    expect(batch?.vulnerabilities).toMatchObject([{ asset_value: 'a:1' }])
    expect(batch?.problems).toEqual([{ line: expect.any(Number), reason: expect.any(String) }])
  })
})

test('A file of 20 MB whose rules come last is read', async () => {
  const results = Array.from({ length: 20_000 }, (_, n) => result(`f${n}.py`, n, { note: 'x'.repeat(900) }))
  const { tool, ...run } =
    logOf(results, {}, { rules: [{ id: 'r1', defaultConfiguration: { level: 'error' } }] }).runs[0] ?? {}
  const { found } = await read({ runs: [{ ...run, tool }], version: '2.1.0' })
  expect(found).toHaveLength(20_000)
  expect(found.every(({ severity }) => severity === 'high')).toBe(true)
})
