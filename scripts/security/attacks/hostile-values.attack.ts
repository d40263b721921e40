import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { call, farm, watchFarm, type Answer } from '../farm/attacked-farm.ts'
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
import { hostileValues } from '../hostile/corpus.ts'
import {
  hostInterpreterPlaces,
  hostRoads,
  interpreterPlaces,
  roads,
  SEARCH,
  TOOL,
  wholePlaces,
  type Place,
} from '../hostile/places.ts'

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

/** A caller's param, in every position. */
const paramPlaces = (): Place[] => [
  ...wholePlaces('v'),
  ...roads('v'),
  ...interpreterPlaces('v'),
  ...hostRoads('v'),
  SEARCH,
]

/** The output of a tool and the content of a file are as hostile as input of a caller. */
const outputPlaces = (runner: RunnerName): Place[] => [
  TOOL,
  ...wholePlaces('seen'),
  ...wholePlaces('read').slice(0, 3),
  ...roads('seen'),
  // Rendering is the same everywhere; the runners differ in how the command reaches its shell.
  ...interpreterPlaces('seen').slice(0, runner === 'host' ? undefined : SOME),
  ...(runner === 'host' ? [...hostInterpreterPlaces('seen'), ...hostRoads('seen')] : []),
  SEARCH,
]

/** Positions where the words of a param without a type are separate arguments. */
const SPLIT = new Set(['v bare', 'parallel commands', 'exec_cmd'])

const untypedPlaces = (): Place[] =>
  paramPlaces().map((place) =>
    SPLIT.has(place.name) ? { ...place, shows: (value) => value.split(/[ \t\r\n]+/).join('') } : place,
  )

/** How a value gets into a run. Every param is accepted; its position decides what it may do. */
const ORIGINS = {
  param: { places: paramPlaces, params: (value: string) => ({ v: value }), types: { type: 'string' } },
  'param without a type': { places: untypedPlaces, params: (value: string) => ({ v: value }), types: {} },
  // The alphabet of base64 is harmless everywhere: only the output of the decoding tool is hostile.
  'output of a tool': {
    places: outputPlaces,
    params: (value: string) => ({ encoded: Buffer.from(value).toString('base64') }),
    types: { type: 'string' },
  },
} as const

/** A typed param is rendered like the output of a tool; docker and ssh only pass the command to another shell. */
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

/** The positions that the checker accepts: others are refused for every value. */
async function accepted(fields: object, places: readonly Place[], types: object): Promise<Place[]> {
  const params = ['v', 'encoded', 'seen', 'read'].map((name) => ({ name, ...types }))
  const verdicts = await Promise.all(
    places.map(async (place) => ({
      place,
      ...(await lintModule({ ...fields, params, steps: [place.step] })),
    })),
  )
  return verdicts.filter(({ valid }) => valid).map(({ place }) => place)
}

/** A step may lose blanks at the end of the output of a tool. */
const loose = (text: string): string => text.replace(/\s+$/, '')

/** Names the positions that can have run the second command. */
const suspicion = (run: EndedRun, places: readonly Place[]): string => {
  const suspects = places.filter(
    ({ name, shows }) => shows === undefined && stepNamed(run, name).status === 'completed',
  )
  return `a second command ran in one of: ${suspects.map(({ name }) => name).join(', ')}`
}

/** Errors in the treatment of the value: one line for each position. */
const wrongs = (run: EndedRun, places: readonly Place[], value: string): string[] =>
  places.flatMap((place) => {
    const { status, output, error_message: message } = stepNamed(run, place.name)
    if (place === SEARCH)
      return output.trim() === '' && status === 'completed' ? [] : [suspicion(run, places)]
    if (status === 'failed') return message === '' ? [`${place.name}: failed without a message`] : []
    if (status !== 'completed') return [`${place.name}: ${status} ${message}`]
    if (place.shows === undefined) return []
    const [found, expected] = [loose(fromHex(output)), loose(place.shows(value))]
    return found === expected
      ? []
      : [`${place.name}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`]
  })

describe.each(CASES)('on the runner $runner a hostile $origin', ({ runner, origin }) => {
  const fields = RUNNERS[runner]
  const { places: placesOn, params, types } = ORIGINS[origin]
  const all = placesOn(runner)
  const name = `hostile-${runner}-${origin.replaceAll(' ', '-')}`
  let places: Place[] = []
  const values = hostileValues(join(farm.canaries, name))
  const answers = new Map<string, Answer>()

  beforeAll(async () => {
    places = await accepted(fields, all, types)
    const module = await uploadModule(name, {
      ...fields,
      params: Object.keys(params('')).map((param) => ({ name: param, ...types, required: true })),
      steps: places.map(({ step }) => step),
    })
    for (const { name: which, value } of values)
      answers.set(
        which,
        await submit({ module, target: `${name}-${answers.size}.test`, params: params(value) }),
      )
  }, START_MS)

  test.each(values)(
    'arrives whole or is refused by its place, and runs nothing: $name',
    async ({ name: which, value }) => {
      const answer = answers.get(which)
      if (answer === undefined) throw new Error('the run was not submitted')
      expect(answer).toMatchObject({ status: 202 })
      const run = await ended(runOf(answer))
      expect(wrongs(run, places, value)).toEqual([])
    },
    START_MS,
  )

  test('has left no file outside of its run', () => {
    expect(readdirSync(farm.canaries).filter((file) => file.startsWith(name))).toEqual([])
  })

  test('is carried out in most places, not just refused', async () => {
    const run = await runToEnd({ module: name, params: params('harmless') })
    const done = run.steps.filter(({ status }) => status === 'completed').map(({ step_name }) => step_name)
    expect(done).toEqual(expect.arrayContaining(all.filter(({ shows }) => shows).map(({ name }) => name)))
  })
})

beforeAll(async () => {
  await uploadModule('takes-anything', {
    steps: [{ name: 'show', type: 'bash', command: 'echo {{Target}}' }],
  })
})

describe.each(Object.keys(RUNNERS) as RunnerName[])('a target that a shell would expand on %s', (runner) => {
  const places = [...wholePlaces('Target'), ...roads('Target')]
  const name = `expanding-${runner}`

  beforeAll(async () => {
    // Files that the names would become.
    const files = {
      name: 'files',
      type: 'bash',
      command: 'mkdir -p https:/h/a && touch x.a.test https:/h/a/b',
    }
    await uploadModule(name, { ...RUNNERS[runner], steps: [files, ...places.map(({ step }) => step)] })
  })

  test.each(['*.a.test', 'https://h/a/*', 'https://h/(a)/*?q=(*)&r=*'])(
    'is one literal word: %s',
    async (target) => {
      const run = await runToEnd({ module: name, target })
      expect(wrongs(run, places, target)).toEqual([])
      expect(run.workspace).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
    },
    START_MS,
  )
})

describe('a hostile target', () => {
  test.each(hostileValues(join(farm.canaries, 'target')))(
    'is refused with its field, or is a target: $name',
    async ({ value }) => {
      const answer = await submit({ module: 'takes-anything', target: value })
      if (answer.status === 202) expect(value).toMatch(/^[A-Za-z0-9]/)
      else expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('/target') })
    },
  )
})

describe('a hostile name', () => {
  test.each(hostileValues(join(farm.canaries, 'name')))(
    'of a workspace is refused or harmless: $name',
    async ({ value }) => {
      const body = { module: 'takes-anything', target: 'a.test', workspace: value }
      const answer = await submit(body)
      if (answer.status === 202) expect(value).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
      else expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('/workspace') })
    },
  )

  test.each(['../x', '..', '.', '/etc', 'a/../b', '..\\x', 'x\u0000y'])(
    'of a workspace, module or flow leads nowhere: %j',
    async (name) => {
      const base = { target: 'a.test' }
      expect((await submit({ ...base, module: 'takes-anything', workspace: name })).status).toBe(400)
      expect([400, 404]).toContain((await submit({ ...base, module: name })).status)
      expect([400, 404]).toContain((await submit({ ...base, flow: name })).status)
      // Clients remove a single dot from the path.
      if (name === '.') return
      expect([400, 404]).toContain((await call('get', `/workflows/${encodeURIComponent(name)}`)).status)
    },
  )
})

watchFarm()
