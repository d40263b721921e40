import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { farm, watchFarm, type Answer } from '../farm/attacked-farm.ts'
import {
  ended,
  lintModule,
  runOf,
  runToEnd,
  stepNamed,
  submit,
  uploadModule,
  type EndedRun,
} from '../farm/runs.ts'
import { hostileValues, positionsOf, SEARCH, TOOL, type Position } from '../hostile/read.ts'

const START_MS = 300_000
const SOME = 6

const RUNNERS = {
  host: {},
  docker: { runner: 'docker', runner_config: { image: farm.image } },
  ssh: {
    runner: 'ssh',
    runner_config: {
      host: `${farm.ssh.user}@${farm.ssh.host}`,
      key_file: farm.ssh.keyFile,
      host_keys: 'strict',
    },
  },
} as const
type RunnerName = keyof typeof RUNNERS

/** A param of the caller, in every position. */
const paramPositions = (): Position[] => {
  const { whole, forwarding, interpreters, hostForwarding } = positionsOf('v')
  return [...whole, ...forwarding, ...interpreters, ...hostForwarding, SEARCH]
}

/** The output of a tool and the content of a file are as hostile as input of a caller. */
const outputPositions = (runner: RunnerName): Position[] => {
  const seen = positionsOf('seen')
  const few = [TOOL, ...seen.whole, ...positionsOf('read').whole.slice(0, 3), ...seen.forwarding]
  // All runners render the same command; they differ in how it reaches its shell.
  return runner === 'host'
    ? [...few, ...seen.interpreters, ...seen.hostInterpreters, ...seen.hostForwarding, SEARCH]
    : [...few, ...seen.interpreters.slice(0, SOME), SEARCH]
}

/** Positions where the words of a param without a type are separate arguments. */
const SPLIT = new Set(['v bare', 'parallel commands', 'exec_cmd'])

const untypedPositions = (): Position[] =>
  paramPositions().map((position) =>
    SPLIT.has(position.name)
      ? { ...position, expected: (value) => value.split(/[ \t\r\n]+/).join('') }
      : position,
  )

/** The origins of a value in a run. Every param is accepted; its position decides how it is escaped. */
const ORIGINS = {
  param: { positions: paramPositions, params: (value: string) => ({ v: value }), types: { type: 'string' } },
  'param without a type': {
    positions: untypedPositions,
    params: (value: string) => ({ v: value }),
    types: {},
  },
  // The alphabet of base64 is harmless; only the output of the decoding tool is hostile.
  'output of a tool': {
    positions: outputPositions,
    params: (value: string) => ({ encoded: Buffer.from(value).toString('base64') }),
    types: { type: 'string' },
  },
} as const

/** Only the host tests typed params: they are rendered like the output of a tool. */
const CASES = [
  { runner: 'host', origin: 'param' },
  { runner: 'host', origin: 'param without a type' },
  { runner: 'docker', origin: 'param without a type' },
  { runner: 'ssh', origin: 'param without a type' },
  { runner: 'host', origin: 'output of a tool' },
  { runner: 'docker', origin: 'output of a tool' },
  { runner: 'ssh', origin: 'output of a tool' },
] as const

const fromHex = (output: string): string => Buffer.from(output.replaceAll(/\s+/g, ''), 'hex').toString('utf8')

/** The positions that the checker accepts; it refuses the others for every value. */
async function accepted(fields: object, positions: readonly Position[], types: object): Promise<Position[]> {
  const params = ['v', 'encoded', 'seen', 'read'].map((name) => ({ name, ...types }))
  const verdicts = await Promise.all(
    positions.map(async (position) => ({
      position,
      ...(await lintModule({ ...fields, params, steps: [position.step] })),
    })),
  )
  return verdicts.filter(({ valid }) => valid).map(({ position }) => position)
}

/** A step may lose blanks at the end of the output of a tool. */
const loose = (text: string): string => text.replace(/\s+$/, '')

/** Names the positions that can have executed the second command. */
const suspicion = (run: EndedRun, positions: readonly Position[]): string => {
  const suspects = positions.filter(
    ({ name, expected }) => expected === undefined && stepNamed(run, name).status === 'completed',
  )
  return `a second command was executed by one of: ${suspects.map(({ name }) => name).join(', ')}`
}

/** One line for each position with a wrong result. */
const mistakesOf = (run: EndedRun, positions: readonly Position[], value: string): string[] =>
  positions.flatMap((position) => {
    const { status, output, error_message: message } = stepNamed(run, position.name)
    if (position === SEARCH)
      return output.trim() === '' && status === 'completed' ? [] : [suspicion(run, positions)]
    if (status === 'failed') return message === '' ? [`${position.name}: failed without a message`] : []
    if (status !== 'completed') return [`${position.name}: ${status} ${message}`]
    if (position.expected === undefined) return []
    const [found, expected] = [loose(fromHex(output)), loose(position.expected(value))]
    return found === expected
      ? []
      : [`${position.name}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`]
  })

describe.each(CASES)('hostile $origin on the runner $runner', ({ runner, origin }) => {
  const fields = RUNNERS[runner]
  const { positions: positionsOn, params, types } = ORIGINS[origin]
  const all = positionsOn(runner)
  const name = `hostile-${runner}-${origin.replaceAll(' ', '-')}`
  let positions: Position[] = []
  const values = hostileValues(join(farm.canaries, name))
  const answers = new Map<string, Answer>()

  beforeAll(async () => {
    positions = await accepted(fields, all, types)
    const module = await uploadModule(name, {
      ...fields,
      params: Object.keys(params('')).map((param) => ({ name: param, ...types, required: true })),
      steps: positions.map(({ step }) => step),
    })
    for (const { name: which, value } of values)
      answers.set(
        which,
        await submit({ module, target: `${name}-${answers.size}.test`, params: params(value) }),
      )
  }, START_MS)

  test.each(values)(
    'The value arrives unchanged or fails its step, and executes nothing: $name',
    async ({ name: which, value }) => {
      const answer = answers.get(which)
      if (answer === undefined) throw new Error('the run was not submitted')
      expect(answer).toMatchObject({ status: 202 })
      const run = await ended(runOf(answer))
      expect(mistakesOf(run, positions, value)).toEqual([])
    },
    START_MS,
  )

  test('No value has created a file outside of its run', () => {
    expect(readdirSync(farm.canaries).filter((file) => file.startsWith(name))).toEqual([])
  })

  test('A harmless value completes the steps of all positions', async () => {
    const run = await runToEnd({ module: name, params: params('harmless') })
    const done = run.steps.filter(({ status }) => status === 'completed').map(({ step_name }) => step_name)
    expect(done).toEqual(
      expect.arrayContaining(all.filter(({ expected }) => expected).map(({ name }) => name)),
    )
  })
})

watchFarm()
