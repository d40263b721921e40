import { expect, test } from '@jest/globals'
import { openReport } from '../src/index.ts'
import { bytesOf } from './records.ts'

const found = async (results: readonly object[], run: object = {}) => {
  const log = { version: '2.1.0', runs: [{ tool: { driver: { name: 'Demo' } }, results, ...run }] }
  const { batches } = await openReport('sarif', bytesOf(JSON.stringify(log), 65_536))
  return (await Array.fromAsync(batches)).flatMap(({ vulnerabilities }) => vulnerabilities)
}
const identities = async (requests: readonly object[], more: object = {}) =>
  (await found(requests.map((webRequest) => ({ ruleId: 'r', webRequest, ...more })))).map(
    ({ asset_value, fingerprint }) => `${asset_value} ${fingerprint ?? ''}`,
  )

const page = [
  { physicalLocation: { artifactLocation: { uri: 'http://h.example/a' }, region: { startLine: 1 } } },
]
const request = (method: string, target: string) => ({ method, target })

test('The request is the place of a result without another one', async () => {
  const results = await found(
    [
      {
        ruleId: 'r',
        webRequest: {
          protocol: 'HTTPS',
          version: '1.1',
          method: 'POST',
          target: '/login?next=/',
          headers: { Host: 'h.example', Accept: '*/*' },
          body: { text: 'user=a' },
        },
        webResponse: { index: 0 },
      },
    ],
    {
      webResponses: [
        { protocol: 'HTTP', version: '1.1', statusCode: 500, reasonPhrase: 'Oops', body: { text: 'trace' } },
      ],
    },
  )
  expect(results).toMatchObject([
    {
      asset_type: 'web',
      asset_value: 'https://h.example/login?next=/',
      detail_http_request: 'POST /login?next=/ HTTPS/1.1\r\nHost: h.example\r\nAccept: */*\r\n\r\nuser=a',
      detail_http_response: 'HTTP/1.1 500 Oops\r\n\r\ntrace',
    },
  ])
})

test('Results of one check at one page are told apart by the method, the address and the names of its parameters', async () => {
  const requests = [
    request('GET', 'http://h.example/a?id=1'),
    request('POST', 'http://h.example/a?id=1'),
    request('GET', 'http://h.example/a?q=1'),
    request('GET', 'http://h.example/b?id=1'),
  ]
  const first = await identities(requests, { locations: page })
  expect(new Set(first).size).toBe(4)
  const values = requests.map(({ method, target }) => request(method, target.replace('=1', '=2')))
  expect(await identities(values.toReversed(), { locations: page })).toEqual(first.toReversed())
})

test('A request of the run is found by its index', async () => {
  const run = { webRequests: [request('GET', 'http://h.example/a'), request('GET', 'http://h.example/b')] }
  const results = await found([{ ruleId: 'r', webRequest: { index: 1 } }], run)
  expect(results.map(({ asset_value }) => asset_value)).toEqual(['http://h.example/b'])
})

test('A request that names no server is no place', async () => {
  expect(await identities([request('GET', '/a'), { target: 5 }])).toEqual(['Demo ', 'Demo '])
})

test.each([
  ['its id', { guid: 'G2' }],
  ['its name', { name: 'Queries' }],
  ['its index', { index: 1 }],
])('The rule is that of the component which the result names by %s', async (_name, toolComponent) => {
  const rule = (level: string) => [{ id: 'r', defaultConfiguration: { level } }]
  const extensions = [
    { name: 'Other', guid: 'G1', rules: rule('note') },
    { name: 'Queries', guid: 'G2', rules: rule('error') },
  ]
  const tool = { driver: { name: 'Demo', rules: rule('note') }, extensions }
  const [result] = await found([{ rule: { id: 'r', toolComponent } }], { tool })
  expect(result?.severity).toBe('high')
})

test('Results of nuclei are at the server that the file is described by, with its own severity', async () => {
  const at = (ruleId: string, uri: string, text: string, level = 'error') => ({
    ruleId,
    level,
    kind: 'open',
    locations: [{ physicalLocation: { artifactLocation: { uri, description: { text } } } }],
  })
  const rules = [
    ['panel', '8'],
    ['tech', '1'],
  ].map(([id, score]) => ({ id, properties: { 'security-severity': score } }))
  const results = [
    at('panel', '//admin', 'http:/A.example/admin'),
    at('panel', '//admin', 'https:/b.example:8443/admin'),
    at('panel', '/', 'a.example:22'),
    at('tech', '/', 'http:/a.example', 'none'),
  ]
  expect(await found(results, { tool: { driver: { name: 'Nuclei', rules } } })).toMatchObject([
    { severity: 'high', asset_type: 'web', asset_value: 'http://a.example/admin' },
    { severity: 'high', asset_type: 'web', asset_value: 'https://b.example:8443/admin' },
    { severity: 'high', asset_type: 'web', asset_value: 'a.example:22' },
    { severity: 'info', asset_type: 'web', asset_value: 'http://a.example' },
  ])
})
