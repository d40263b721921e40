import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

const HOSTILE = `it's "q" $(echo INJECTED) \`echo INJECTED\`; echo INJECTED`

const BODY = JSON.stringify({ text: HOSTILE, list: [HOSTILE], deep: { text: HOSTILE } })

describe('members of objects in commands', () => {
  const runs = useRuns()
  let server: Server
  let address = ''

  beforeAll(async () => {
    server = createServer((_request, response) => response.end(BODY)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const place = server.address()
    address = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}/`
  })
  afterAll(async () => {
    server.close()
    await once(server, 'close')
  })

  test('members of an undefined variable are empty, like the variable', async () => {
    const { status, recorder } = await runs.run(`kind: module
name: unset
steps:
  - {name: ask, type: http, pre_condition: 'false', url: '${address}'}
  - {name: say, type: bash, command: 'echo "[{{ask_http_resp.status_code}}{{response.body}}]"', exports: {body: '{{response.body}}'}}
  - {name: look, type: bash, pre_condition: '"{{ask_http_resp.status_code}}" == "200"', command: echo no}
`)
    expect(status).toBe('completed')
    expect(recorder.steps.map(({ output, exports }) => [output, exports])).toEqual([
      ['', {}],
      ['[]\n', { body: '' }],
      ['', {}],
    ])
  })

  test.each([
    ['a member of the answer to a request', '{{ask_http_resp.response_body | trim}}', BODY],
    ['an export of a member', '{{kept}}', BODY],
    ['a member of what an expression brought', '{{made.text}}', HOSTILE],
    ['a member of a member', '{{made.deep.text}}', HOSTILE],
    ['an item of a list in an object', '{{made.list | first}}', HOSTILE],
    [
      'an item that a loop of the template goes over',
      '{% for item in made.list %}{{item}}{% endfor %}',
      HOSTILE,
    ],
    ['an object as text', '{{made.deep | json}}', JSON.stringify({ text: HOSTILE })],
    ['an answer of yesno', '{{made.deep | yesno:kept}}', BODY.split(',')[0]],
    ['a format with a value in it', '{{ 5 | stringformat:made.text}}', HOSTILE],
  ])('%s is one word and not code', async (_what, hole, expected) => {
    const { status, output, recorder } = await runs.run(`kind: module
name: members
steps:
  - {name: ask, type: http, url: '${address}', exports: {kept: '{{ask_http_resp.response_body}}'}}
  - {name: make, type: function, function: 'set_var("made", JSON.parse(ask_http_resp.response_body))'}
  - name: say
    type: bash
    command: printf '%s\\001' ${hole} > '{{Output}}/words'
`)
    expect({ status, errors: recorder.steps.map((step) => step.errorMessage) }).toEqual({
      status: 'completed',
      errors: ['', '', ''],
    })
    expect(readFileSync(`${output}/words`, 'utf8')).toBe(`${expected}\u0001`)
  })
})
