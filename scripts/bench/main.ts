/**
 * `npm run bench`: measures a farm, and the limit of this machine for the same work.
 *
 *   npm run bench                      all parts
 *   npm run bench -- --only a,c        some of them
 *   npm run bench -- --quick           smaller numbers: rough figures after a minute or two
 *   npm run bench -- --json FILE       writes the figures as JSON, too
 */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { say, table, title } from '@scanfarm/cli/demo'
import { api } from './api.ts'
import { webConsole } from './console.ts'
import { HEAD, isMet, PARTS, ratioOf, rowOf, shortfallOf, type Figure, type Part } from './figure.ts'
import { growth } from './growth.ts'
import { Harness } from './harness.ts'
import { latency } from './latency.ts'
import { describeMachine } from './machine.ts'
import { memory } from './memory.ts'
import { profile } from './profile.ts'
import { submit } from './submit.ts'
import { throughput } from './throughput.ts'

const MEASURES: Readonly<
  Record<Part, { what: string; measure: (harness: Harness) => AsyncIterable<Figure> }>
> = {
  a: { what: 'targets a second, from submit to the last result', measure: throughput },
  b: { what: 'submitting many targets', measure: submit },
  c: { what: 'latency of an idle farm', measure: latency },
  d: { what: 'reading with many runs stored', measure: api },
  e: { what: 'memory', measure: memory },
  f: { what: 'CPU time of a run by component', measure: profile },
  g: { what: 'growth of the cost of a run', measure: growth },
  h: { what: 'the console in a browser', measure: webConsole },
}

interface Options {
  readonly parts: readonly Part[]
  readonly quick: boolean
  readonly json: string | undefined
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'string' } },
  })
  const requested = values.only?.split(',').map((part) => part.trim()) ?? PARTS
  const unknown = requested.filter((part) => !PARTS.some((known) => known === part))
  if (unknown.length > 0)
    throw new Error(`--only has the unknown part ${unknown.join(', ')}; expected some of ${PARTS.join(', ')}`)
  return {
    parts: PARTS.filter((part) => requested.includes(part)),
    quick: values.quick === true,
    json: values.json,
  }
}

/** Measures the parts one after another. The remaining figures of a part that fails are missing. */
async function measureAll(
  harness: Harness,
  parts: readonly Part[],
): Promise<{ figures: Figure[]; broken: Part[] }> {
  const figures: Figure[] = []
  const broken: Part[] = []
  for (const part of parts) {
    title(`(${part}) ${MEASURES[part].what}`)
    try {
      for await (const figure of MEASURES[part].measure(harness)) figures.push(figure)
    } catch (error) {
      if (harness.ended) break
      broken.push(part)
      say(`part ${part} failed: ${error instanceof Error ? error.stack : String(error)}`)
    }
  }
  return { figures, broken }
}

const asJson = (figures: readonly Figure[], quick: boolean): string =>
  JSON.stringify(
    {
      machine: describeMachine(),
      quick,
      figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), met: isMet(figure) })),
    },
    null,
    2,
  )

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  const harness = new Harness({ quick: options.quick })
  harness.disposeOnStop()
  try {
    title(`Scanfarm bench on ${Object.values(describeMachine()).join(', ')}`)
    const { figures, broken } = await measureAll(harness, options.parts)
    say('')
    table(HEAD, figures.map(rowOf))
    if (options.json !== undefined) await writeFile(options.json, asJson(figures, options.quick))
    const missed = figures.filter((figure) => isMet(figure) === false)
    const goals = figures.filter((figure) => isMet(figure) !== undefined).length
    say(`${goals - missed.length} of ${goals} goals are met${missed.length === 0 ? '.' : '. Missed:'}`)
    for (const figure of missed) say(`  ${shortfallOf(figure)}`)
    return broken.length === 0 ? 0 : 1
  } finally {
    await harness[Symbol.asyncDispose]()
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
