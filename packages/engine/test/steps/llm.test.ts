import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { FunctionServices } from '@scanfarm/functions'
import type { Json } from '@scanfarm/language'
import { useRuns } from '../harness/runs.ts'

const { run } = useRuns()

type Request = { path: string; key: string; body: { [key: string]: Json } }
type Reply = { status?: number; json?: Json; stream?: string[]; delayMs?: number }

/** A local endpoint that speaks the protocol; `script` says what it answers, in turn. */
let server: Server
let services: FunctionServices
const requests: Request[] = []
let script: Reply[] = []

const say = (content: string, calls: { name: string; args: Json }[] = []): Reply => ({
  json: {
    model: 'tiny',
    choices: [
      {
        index: 0,
        finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
        message: {
          role: 'assistant',
          content,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ name, args }, index) => ({
                  id: `call-${index}`,
                  type: 'function',
                  function: { name, arguments: JSON.stringify(args) },
                })),
              }),
        },
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
})

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { [key: string]: Json }
      requests.push({ path: request.url ?? '', key: request.headers.authorization ?? '', body })
      const reply: Reply = script.shift() ?? { status: 500, json: { error: { message: 'script is over' } } }
      response.statusCode = reply.status ?? 200
      if (reply.stream !== undefined) {
        response.setHeader('content-type', 'text/event-stream')
        response.end(reply.stream.map((piece) => `data: ${piece}\n\n`).join(''))
        return
      }
      response.setHeader('content-type', 'application/json')
      if (response.statusCode === 429) response.setHeader('retry-after', '0')
      response.end(JSON.stringify(reply.json ?? {}))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  services = {
    llm: {
      providers: [
        { name: 'first', baseUrl, apiKey: 'k-first', model: 'tiny' },
        { name: 'second', baseUrl: `${baseUrl}/`, apiKey: 'k-second', model: 'small' },
      ],
    },
  }
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
})
beforeEach(() => {
  requests.length = 0
  script = []
})

const module = (steps: string): string => `kind: module\nname: main\nsteps:\n${steps}`

describe('llm', () => {
  test('an llm step sends a conversation and exports the answer and token counts', async () => {
    script = [say('forty-two')]
    const { status, recorder } = await run(
      module(`
  - name: ask-it
    type: llm
    messages:
      - {role: system, content: "You know {{Target}}."}
      - {role: user, content: [{type: text, text: "What of {{Target}}?"}]}
    llm_config: {temperature: 0.5, max_tokens: 99, response_format: {type: json_object}}
    extra_llm_parameters: {seed: 7}
  - {name: use, type: bash, command: "echo {{ask_it_content}} {{ask_it_total_tokens}} {{ask_it_llm_resp.model}}"}
`),
      { services },
    )
    expect(status).toBe('completed')
    expect(recorder.byName('use').output).toBe('forty-two 15 tiny\n')
    expect(requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      key: 'Bearer k-first',
      body: {
        model: 'tiny',
        seed: 7,
        temperature: 0.5,
        max_tokens: 99,
        response_format: { type: 'json_object' },
        messages: [
          { role: 'system', content: 'You know example.com.' },
          { role: 'user', content: [{ type: 'text', text: 'What of example.com?' }] },
        ],
      },
    })
  })

  test('an llm step retries a busy endpoint, tries the next provider, and fails with the error of the provider', async () => {
    script = [{ status: 429 }, { status: 400, json: { error: { message: 'bad key' } } }, say('from second')]
    const again = await run(module('  - {name: a, type: llm, messages: [{role: user, content: hi}]}\n'), {
      services,
    })
    expect(again.recorder.byName('a').output).toBe('from second\n')
    expect(requests.map(({ key }) => key)).toEqual(['Bearer k-first', 'Bearer k-first', 'Bearer k-second'])
    script = [
      { status: 401, json: { error: { message: 'no' } } },
      { status: 401, json: { error: { message: 'no way' } } },
    ]
    const refused = await run(module('  - {name: a, type: llm, messages: [{role: user, content: hi}]}\n'), {
      services,
    })
    expect(refused.errorMessage).toBe('language model: second answered 401: no way')
    const none = await run(module('  - {name: a, type: llm, messages: [{role: user, content: hi}]}\n'))
    expect(none.errorMessage).toContain('no language model is set up')
  })

  test('an llm step joins a streamed answer, and embeds texts', async () => {
    const piece = (delta: Json) => JSON.stringify({ model: 'tiny', choices: [{ index: 0, delta }] })
    script = [
      { stream: [piece({ role: 'assistant', content: 'for' }), piece({ content: 'ty' }), '[DONE]'] },
      {
        json: {
          data: [{ embedding: [1, 2] }, { embedding: [3] }],
          usage: { prompt_tokens: 4, total_tokens: 4 },
        },
      },
    ]
    const { recorder } = await run(
      module(`
  - {name: a, type: llm, stream: true, messages: [{role: user, content: hi}]}
  - {name: e, type: llm, is_embedding: true, embedding_input: ["{{Target}}", b]}
  - {name: f, type: function, function: 'llm_invoke("x")', on_error: [continue]}
`),
      { services },
    )
    expect(recorder.byName('a').output).toBe('forty\n')
    expect(recorder.byName('e').output).toBe('[[1,2],[3]]\n')
    expect(requests[1]?.body['input']).toEqual(['example.com', 'b'])
  })
})

describe('agent', () => {
  test('an agent calls tools until the model requests none', async () => {
    script = [
      say('', [
        { name: 'bash', args: { command: 'printf "80 open"; exit 3' } },
        { name: 'save_content', args: { text: 'note', path: 'note.txt' } },
        { name: 'double', args: { n: 21 } },
        { name: 'nope', args: {} },
      ]),
      say('port 80 is open'),
    ]
    const { status, recorder, output } = await run(
      module(`
  - name: look
    type: agent
    query: "Look at {{Target}}"
    system_prompt: Be short.
    agent_tools:
      - bash
      - {preset: save_content}
      - {name: double, description: Doubles., parameters: {type: object}, handler: "args.n * 2"}
    memory: {persist_path: "{{Output}}/talk.json"}
  - {name: use, type: bash, command: "echo {{agent_content}} {{agent_iterations}} {{agent_total_tokens}}"}
`),
      { services },
    )
    expect(status).toBe('completed')
    expect(recorder.byName('use').output).toBe('port 80 is open 2 30\n')
    const messages = requests[1]?.body['messages']
    expect(messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Look at example.com' },
      expect.objectContaining({ role: 'assistant' }),
      expect.objectContaining({
        role: 'tool',
        tool_call_id: 'call-0',
        content: '80 open\n[command exited with code 3]',
      }),
      expect.objectContaining({ role: 'tool', tool_call_id: 'call-1', content: 'true' }),
      expect.objectContaining({ role: 'tool', tool_call_id: 'call-2', content: '42' }),
      expect.objectContaining({ role: 'tool', content: expect.stringContaining('there is no tool nope') }),
    ])
    expect(readFileSync(`${output}/note.txt`, 'utf8')).toBe('note')
    expect(JSON.parse(readFileSync(`${output}/talk.json`, 'utf8'))).toHaveLength(8)
  })

  test('an agent is limited in rounds and tokens, falls back to other models, and delegates to other agents', async () => {
    script = [
      { status: 404, json: { error: { message: 'no such model' } } },
      { status: 404, json: { error: { message: 'no such model' } } },
      say('', [{ name: 'spawn_agent', args: { agent: 'reader', query: 'read' } }]),
      say('the reader says so'),
      say('', [{ name: 'bash', args: { command: 'echo again' } }]),
      say('', [{ name: 'bash', args: { command: 'echo greedy' } }]),
    ]
    const { status, errorMessage, recorder } = await run(
      module(`
  - name: look
    type: agent
    queries: [do it]
    max_iterations: 2
    models: [large, tiny]
    agent_tools: [bash]
    sub_agents: [{name: reader, description: reads, system_prompt: Read.}]
  - {name: greedy, type: agent, query: x, agent_tools: [bash], max_tokens: 10}
`),
      { services },
    )
    expect([status, errorMessage]).toEqual(['failed', 'the agent exceeded its limit of tokens'])
    const models = requests.map(({ body }) => body['model'])
    expect(models).toEqual(['large', 'large', 'tiny', 'tiny', 'large', 'tiny'])
    expect(recorder.byName('look')).toMatchObject({ status: 'completed', exports: { agent_iterations: '3' } })
  })

  test('sub-agents have their own sub-agents, hooks, limits and settings', async () => {
    script = [
      say('', [{ name: 'spawn_agent', args: { agent: 'outer', query: 'go' } }]),
      say('', [{ name: 'spawn_agent', args: { agent: 'inner', query: 'on' } }]),
      say('', [{ name: 'bash', args: { command: 'echo deep' } }]),
      say('inner done'),
      say('outer done'),
      say('all done'),
    ]
    const { recorder, status, output } = await run(
      module(`
  - name: nested
    type: agent
    query: start
    agent_tools: [bash]
    on_tool_end: 'save_content(tool_name + "|" + tool_args + "|" + (duration >= 0) + "|" + iteration + "|" + error, "top.txt")'
    sub_agents:
      - name: outer
        system_prompt: For {{Target}}
        sub_agents:
          - name: inner
            agent_tools: [bash]
            llm_config: {model: other}
            on_tool_start: 'save_content(tool_name + " " + tool_args, "inner.txt")'
`),
      { services },
    )
    expect([status, recorder.byName('nested').exports?.['agent_content']]).toEqual(['completed', 'all done'])
    expect(readFileSync(`${output}/top.txt`, 'utf8')).toBe(
      'spawn_agent|{"agent":"outer","query":"go"}|true|1|',
    )
    expect(readFileSync(`${output}/inner.txt`, 'utf8')).toBe('bash {"command":"echo deep"}')
    expect(requests.map(({ body }) => body['model'])).toEqual([
      'tiny',
      'tiny',
      'other',
      'other',
      'tiny',
      'tiny',
    ])
    expect(JSON.stringify(requests[1]?.body)).toContain('For example.com')
  })

  test('an agent fails if its answer is not valid JSON, and ends by its stop condition', async () => {
    script = [say('not json'), say('STOP now', [{ name: 'bash', args: { command: 'true' } }])]
    const bad = await run(
      module('  - {name: a, type: agent, query: x, agent_tools: [bash], output_schema: {type: object}}\n'),
      { services },
    )
    expect(bad.errorMessage).toBe('the answer of the agent is not valid JSON')
    expect(requests[0]?.body['response_format']).toMatchObject({ type: 'json_schema' })
    const stopped = await run(
      module(
        `  - {name: a, type: agent, query: x, agent_tools: [bash], stop_condition: 'contains(content, "STOP")'}\n`,
      ),
      { services },
    )
    expect(stopped.recorder.byName('a').exports?.['agent_iterations']).toBe('1')
  })

  test('an API key of the settings is only sent to the address of the settings', async () => {
    const seen: string[] = []
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '')
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(say('from elsewhere').json))
    })
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`
    const here = services.llm?.providers[0]?.baseUrl ?? ''
    const origin = new URL(here).origin
    const ask = (name: string, config: string): string =>
      `  - {name: ${name}, type: llm, messages: [{role: user, content: hi}], llm_config: {max_retries: 1, model: m, ${config}}}\n`
    script = [say('a'), say('b')]
    try {
      const { status } = await run(
        `kind: module\nname: keys\nparams: [{name: key, default: own-key}]\nsteps:\n${
          ask('a', `base_url: "${here}"`) +
          ask('b', `base_url: "${origin}/other/v1"`) +
          ask('c', `base_url: "${elsewhere}"`) +
          ask('d', `base_url: "${elsewhere}", provider: main`) +
          ask('e', `base_url: "${elsewhere}", api_key: "{{key}}"`) +
          ask('f', `base_url: "${elsewhere}", custom_headers: {authorization: "Basic eDp5"}`)
        }  - {name: g, type: agent, query: hi, agent_tools: [{preset: bash}], llm_config: {base_url: "${elsewhere}", model: m}}\n`,
        { services },
      )
      expect(status).toBe('completed')
      expect(requests.map(({ key }) => key)).toEqual(['Bearer k-first', 'Bearer k-first'])
      expect(seen).toEqual(['', '', 'Bearer own-key', 'Basic eDp5', ''])
    } finally {
      other.closeAllConnections()
      other.close()
    }
  })
})
