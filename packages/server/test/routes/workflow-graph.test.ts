import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const PROBE = `kind: module
name: probe
dependencies: { commands: [nmap, jq] }
params:
  - { name: speed, type: choice, choices: [slow, fast], default: slow, description: How fast }
steps:
  - name: look
    type: bash
    command: nmap {{target}}
    exports: { found: stdout }
    decision:
      switch: '{{found}}'
      cases: { none: { goto: _end }, many: { goto: report } }
  - name: each
    type: foreach
    input: hosts.txt
    variable: host
    step: { name: one, type: bash, command: 'jq . {{host}}' }
  - name: report
    type: parallel-steps
    pre_condition: 'found != ""'
    on_error: [{ action: continue }]
    parallel_steps:
      - { name: left, type: bash, command: echo left }
      - { name: right, type: bash, command: echo right }
`
const SURVEY = `kind: flow
name: survey
help: { example_targets: [a.test], usage: Name a host }
hooks:
  pre_scan_steps: [{ name: hello, type: bash, command: echo hello }]
modules:
  - { name: first, path: probe.yaml }
  - name: second
    depends_on: [first]
    condition: 'true'
    steps: [{ name: tell, type: bash, command: echo done }]
`
const CHILD = `kind: module
name: child
extends: probe
override:
  steps:
    mode: append
    steps:
      - { name: more, type: bash, command: echo more }
`
const WORKER = '00000000-0000-4000-8000-000000000001'
const BROKEN = 'kind: module\nname: broken\nsteps:\n  - { name: one, type: nonsense }\n'

const server = forAllTests(() =>
  testServer({
    workflows: { 'probe.yaml': PROBE, 'survey.yaml': SURVEY, 'child.yaml': CHILD, 'broken.yaml': BROKEN },
  }),
)

interface Drawn {
  nodes: { id: string; parent: string; line: number; file: string }[]
  edges: object[]
}
interface Answer {
  readonly graph: Drawn
  readonly yaml: string
  readonly valid: boolean
  readonly needs_target: boolean
  readonly example_targets: readonly string[]
  readonly usage: string
  readonly params: readonly object[]
  readonly problems: readonly object[]
  readonly tools: readonly object[]
}
const graphOf = async (name: string): Promise<Answer> =>
  (await server.viewer.get(`/api/workflows/${name}/graph`).expect(200)).body.data as Answer
const lines = ({ nodes }: Drawn) => nodes.map(({ id, file, line }) => `${id} ${file}:${line}`)

describe('GET /workflows/{name}/graph', () => {
  test('a module has a node for each step, edges in order and the targets of decisions', async () => {
    const { graph, yaml, params, needs_target, valid } = await graphOf('probe')
    expect(lines(graph)).toEqual([
      'workflow probe.yaml:1',
      'steps/look probe.yaml:7',
      'steps/each probe.yaml:14',
      'steps/each/one probe.yaml:18',
      'steps/report probe.yaml:19',
      'steps/report/left probe.yaml:24',
      'steps/report/right probe.yaml:25',
      'workflow/_end :0',
    ])
    expect(graph.edges).toEqual([
      { from: 'steps/look', to: 'steps/each', kind: 'next', label: '' },
      { from: 'steps/each', to: 'steps/report', kind: 'next', label: '' },
      { from: 'steps/look', to: 'workflow/_end', kind: 'goto', label: '{{found}} is none' },
      { from: 'steps/look', to: 'steps/report', kind: 'goto', label: '{{found}} is many' },
    ])
    expect(graph.nodes[4]).toMatchObject({
      parent: 'workflow',
      kind: 'parallel-steps',
      parallel: true,
      condition: 'found != ""',
      on_error: ['continue'],
    })
    expect(graph.nodes[1]).toMatchObject({ does: ['nmap {{target}}'], exports: ['found'], attempts: 1 })
    expect({ yaml, needs_target, valid }).toEqual({ yaml: PROBE, needs_target: true, valid: true })
    expect(params).toEqual([
      {
        name: 'speed',
        type: 'choice',
        choices: ['slow', 'fast'],
        default: 'slow',
        required: false,
        description: 'How fast',
      },
    ])
  })

  test('a flow contains its modules with the steps of their files', async () => {
    const { graph, example_targets, usage } = await graphOf('survey')
    expect(lines(graph)).toEqual(
      expect.arrayContaining([
        'hooks/pre/hello survey.yaml:5',
        'modules/first survey.yaml:7',
        'modules/first/steps/look probe.yaml:7',
        'modules/second survey.yaml:8',
        'modules/second/steps/tell survey.yaml:11',
      ]),
    )
    expect(graph.edges).toContainEqual({
      from: 'modules/first',
      to: 'modules/second',
      kind: 'depends',
      label: '',
    })
    expect({ example_targets, usage }).toEqual({ example_targets: ['a.test'], usage: 'Name a host' })
  })

  test('steps of a parent have their places in its file', async () => {
    expect(lines((await graphOf('child')).graph)).toEqual(
      expect.arrayContaining(['steps/look probe.yaml:7', 'steps/more child.yaml:8']),
    )
  })

  test('a workflow with errors is drawn too, with its problems', async () => {
    const { valid, problems, graph } = await graphOf('broken')
    expect(valid).toBe(false)
    expect(problems).toEqual([expect.objectContaining({ line: 4, severity: 'error' })])
    expect(lines(graph)).toEqual(['workflow broken.yaml:1', 'steps/one broken.yaml:4'])
  })

  test('needed programs name the workers that have them', async () => {
    await server.runStore.join({
      workerId: WORKER,
      name: 'one',
      hostname: 'h',
      pid: 1,
      version: '0',
      kind: 'worker',
      slots: 1,
      capabilities: ['tool:nmap', 'tool:other'],
      leaseMs: 60_000,
    })
    const { tools } = await graphOf('survey')
    expect(tools).toEqual([
      { name: 'jq', used_by: ['first'], workers: 0, worker_ids: [] },
      { name: 'nmap', used_by: ['first'], workers: 1, worker_ids: [WORKER] },
    ])
    const { body } = await server.viewer.get('/api/workflows?search=survey').expect(200)
    expect(body.data).toContainEqual(expect.objectContaining({ name: 'survey', missing_tools: ['jq'] }))
  })

  test('an unknown workflow answers 404', async () => {
    await server.viewer.get('/api/workflows/nothing/graph').expect(404)
  })
})

describe('POST /workflows/lint?graph=true', () => {
  test('a file that is not stored is drawn', async () => {
    const lint = (query: string, text: string) =>
      server.viewer.post(`/api/workflows/lint${query}`).set('Content-Type', 'application/yaml').send(text)
    const { body } = await lint('?graph=true', SURVEY).expect(200)
    expect(lines(body.graph as Drawn)).toEqual([
      'workflow workflow.yaml:1',
      'hooks/pre/hello workflow.yaml:5',
      'modules/first workflow.yaml:7',
      'modules/second workflow.yaml:8',
      'modules/second/steps/tell workflow.yaml:11',
    ])
    expect((await lint('?graph=true', 'kind: [').expect(200)).body.graph.nodes).toEqual([])
    expect((await lint('', SURVEY).expect(200)).body).not.toHaveProperty('graph')
  })
})
