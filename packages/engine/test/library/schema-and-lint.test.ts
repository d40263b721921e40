import { expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { FUNCTIONS } from '@scanfarm/functions'
import { lint, workflowJsonSchema } from '@scanfarm/language'

const validate = new Ajv2020({ strict: false }).compile(workflowJsonSchema())

const isGood = (text: string): { schema: boolean; lint: boolean } => ({
  schema: validate(parse(text)),
  lint: !lint(text, 'm.yaml', FUNCTIONS).some(
    ({ severity, rule }) => severity === 'error' || rule === 'unknown-key',
  ),
})

const module = (step: string): string => `kind: module\nname: m\nsteps:\n  - {name: s, ${step}}\n`
const bash = (more: string): string => module(`type: bash, command: id, ${more}`)
const http = (more: string): string => module(`type: http, url: 'https://a.test', ${more}`)
const url = (text: string): string => module(`type: http, url: '${text}'`)
const loop = (threads: string): string =>
  module(
    `type: foreach, input: a.txt, variable: item, threads: ${threads}, step: {type: bash, command: 'echo [[item]]'}`,
  )
const remote = (port: string): string =>
  `kind: module\nname: m\nrunner: ssh\nrunner_config: {host: a.test, port: ${port}}\nsteps: [{name: s, type: bash, command: id}]\n`

const GOOD = [
  ...[
    '90',
    '"90"',
    '1.5',
    '30s',
    '1h30m',
    '2D',
    '500ms',
    '0',
    "'{{limit}}'",
    "'{{limit}}s'",
    "''",
    'null',
  ].map((timeout) => bash(`timeout: ${timeout}`)),
  ...['GET', 'post', 'Options', 'PROPFIND', "'{{verb}}'", "''"].map((method) => http(`method: ${method}`)),
  ...[
    'http://a.test',
    'HTTPS://user:secret@a.test:8443/p?q=1#f',
    'http://[2001:db8::1]:65535/',
    'https://b%C3%BCcher.test/a%20b',
    '{{target}}',
    '{{scheme}}://{{target}}/login',
    ' https://a.test ',
  ].map(url),
  ...['4', '"4"', '0', "'{{threads}}'", 'null'].map(loop),
  ...['22', '"22"', '65535', 'null'].map(remote),
  ...['{attempts: 3, delay: 2, max_delay: 1m}', '3', '{attempts: "2"}'].map((retry) =>
    bash(`retry: ${retry}`),
  ),
  ...['true', '"yes"', 'OFF', '1', 'null'].map((flag) => bash(`suppress_details: ${flag}`)),
]

const BAD = [
  ...['-5', '"-5"', '-1s', 'soon', '5 m', '1e3s', '[1]', 'true'].map((timeout) =>
    bash(`timeout: ${timeout}`),
  ),
  ...['FETCH', 'GETT', 'GET POST', '1', '[GET]'].map((method) => http(`method: ${method}`)),
  ...[
    'a.test',
    'ftp://a.test',
    'http://',
    'http:///path',
    'https://a b.test',
    'https://a.test/a b',
    'http://a.test:99999',
    'http://a.test:http',
    'javascript:alert(1)',
  ].map(url),
  ...['many', '-2', '1.5', '"four"', '{a: 1}'].map(loop),
  ...['0', '65536', '22.5', 'ssh', '-22'].map(remote),
  ...['{attempts: 0}', '{attempts: 1.5}', '{attempts: many}', '{}', '{attempts: 2, delay: -1s}'].map(
    (retry) => bash(`retry: ${retry}`),
  ),
  ...['{attempts: 2, delay: "{{wait}}"}', '{attempts: 2, factor: fast}'].map((retry) =>
    bash(`retry: ${retry}`),
  ),
  ...['maybe', '2', '[true]'].map((flag) => bash(`suppress_details: ${flag}`)),
  bash('comand: id'),
  module('type: bsh, command: id'),
  module('type: agent-acp, agent: x'),
  'kind: modul\nname: m\nsteps: [{name: s, type: bash, command: id}]\n',
  'kind: module\nsteps: [{name: s, type: bash, command: id}]\n',
  module(`type: agent, query: q, agent_tools: [bash], max_iterations: 0`),
]

test.each(GOOD)('the JSON Schema and lint accept\n%s', (text) => {
  expect(isGood(text)).toEqual({ schema: true, lint: true })
})

test.each(BAD)('the JSON Schema and lint refuse\n%s', (text) => {
  expect(isGood(text)).toEqual({ schema: false, lint: false })
})

test('the form of a URL is what a client of HTTP can use', () => {
  const urls = [...GOOD, ...BAD].flatMap((text) => /type: http, url: '([^'{]+)'\}/.exec(text)?.[1] ?? [])
  expect(urls.length).toBeGreaterThan(10)
  for (const each of urls.filter((one) => isGood(url(one)).lint)) expect(URL.canParse(each.trim())).toBe(true)
})
