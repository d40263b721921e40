import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readdirSync } from 'node:fs'
import { targetProblem } from '@scanfarm/contracts'
import { describe, expect, test } from '@jest/globals'
import { targetSpace } from '@scanfarm/functions'
import { useRuns, type Ran } from './harness/runs.ts'

const runs = useRuns()

const AGENT = 'Mozilla/5.0 (X11; Linux)'
const VALUES = [
  AGENT,
  'a(b a)b a;b a|b a&b a$b a<b a>b a`b a*b a?b a[b a]b a{b a}b a!b a#b a~b a=b a%b a^b',
  `a'b a"b a\\b '; touch canary; '"; touch canary; "`,
  'x\r\nEND\ntouch canary\n$(touch canary)`touch canary` > canary',
]

/** A shell that expands globs in the values finds the file `axb`. */
const steps = (name: string): string => `
  - {name: files, type: bash, command: 'cd {{Output}} && touch axb a.example.com'}
  - {name: bare, type: bash, command: "cd {{Output}} && printf '<%s>' {{${name}}}"}
  - {name: double, type: bash, command: 'cd {{Output}} && printf "<%s>" "{{${name}}}"'}
  - name: single
    type: bash
    command: |
      cd {{Output}} && printf '<%s>' '{{${name}}}'
  - name: document
    type: bash
    command: |
      cat <<END
      {{${name}}}
      END
  - name: substitution
    type: bash
    command: |
      cd {{Output}} && x="$(printf '%s.' "{{${name}}}")"; printf '<%s>' "\${x%.}"
  - {name: assigned, type: bash, command: 'cd {{Output}} && x={{${name}}}; printf "<%s>" "$x"'}
  - {name: default, type: bash, command: 'printf "<%s>" "\${nothing:-{{${name}}}}"', on_error: [{action: continue}]}
  - {name: loop, type: bash, command: 'cd {{Output}} && for one in {{${name}}}; do printf "<%s>" "$one"; done'}
  - {name: inner, type: bash, command: 'cd {{Output}} && sh -c "printf ''<%s>'' ''{{${name}}}''"'}
  - {name: argument, type: bash, command: 'cd {{Output}} && sh -c ''printf "<%s>" "$1"'' sh "{{${name}}}"'}
  - {name: structured, type: bash, command: 'cd {{Output}} && printf "<%s>"', input_args: '"{{${name}}}"'}
  - {name: saved, type: function, function: 'save_content("{{${name}}}", "{{Output}}/saved")'}
  - {name: shown, type: bash, command: 'cat {{Output}}/saved'}
  - {name: called, type: function, function: "exec_cmd(\\"cd {{Output}} && printf '<%s>' '{{${name}}}'\\")", exports: {seen: 'exec_cmd("printf %s ''{{${name}}}''")'}}
  - {name: seen, type: bash, command: 'printf "<%s>" "{{seen}}"'}
`

const outputs = (ran: Ran): Record<string, string> =>
  Object.fromEntries(ran.recorder.steps.map(({ name, output }) => [name, output]))

const whole = (value: string, words: readonly string[]): Record<string, string> => {
  const one = `<${value}>`
  const many = words.map((word) => `<${word}>`).join('')
  // The export `seen` loses the line breaks at its end, like the output of any command.
  return {
    bare: many,
    loop: many,
    double: one,
    single: one,
    substitution: one,
    assigned: one,
    inner: one,
    argument: one,
    structured: one,
    shown: value,
    document: `${value}\n`,
    seen: `<${value.replace(/[\r\n]+$/, '')}>`,
  }
}

const wordsOf = (value: string): string[] => value.split(/[ \t\r\n]+/).filter((word) => word !== '')

describe('params with shell characters', () => {
  test.each(VALUES)(
    'A param with shell characters arrives unchanged in every position of a command: %j',
    async (value) => {
      const text = `kind: module\nname: places\nsteps:${steps('v')}`
      const typed = `kind: module\nname: typed\nparams: [{name: v, type: string}]\nsteps:${steps('v')}`
      const free = await runs.run(text, { params: { v: value } })
      expect(outputs(free)).toMatchObject(whole(value, wordsOf(value)))
      const one = await runs.run(typed, { params: { v: value } })
      expect(outputs(one)).toMatchObject(whole(value, [value]))
      for (const { output } of [free, one]) expect(readdirSync(output)).not.toContain('canary')
    },
  )

  test('A param with shell characters reaches an http step and a module of a flow unchanged', async () => {
    const received: (string | undefined)[] = []
    await using server = createServer((request, response) => {
      received.push(
        request.headers['user-agent'],
        new URL(request.url ?? '', 'http://x').searchParams.get('q') ?? '',
      )
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { status } = await runs.run(
      {
        'main.yaml':
          'kind: flow\nname: outer\nmodules: [{name: inner, path: inner.yaml, params: {agent: "{{ua}}"}}]\n',
        'inner.yaml': `kind: module
name: inner
params: [{name: agent}]
steps:
  - {name: ask, type: http, url: 'http://127.0.0.1:${port}/?q={{agent}}', headers: {User-Agent: '{{agent}}'}}
`,
      },
      { params: { ua: AGENT } },
    )
    expect({ status, received }).toEqual({ status: 'completed', received: [AGENT, AGENT] })
  })
})

describe('targets with shell characters', () => {
  test.each(['*.example.com', 'https://example.com/a(1)/*?q=(*)&r=1', 'https://*.example.com/'])(
    'The target %s is one literal word in every position, and its folder has a safe name',
    async (target) => {
      expect(targetProblem(target)).toBeUndefined()
      expect(targetSpace(target)).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*-[0-9a-f]{12}$/)
      const ran = await runs.run(`kind: module\nname: places\nsteps:${steps('Target')}`, { target })
      expect(outputs(ran)).toMatchObject(whole(target, [target]))
    },
  )
})
