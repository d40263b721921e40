/**
 * `npm run bench`: measures the farm and, in the same run, the limit of this machine for the same work.
 *
 *   npm run bench                      all parts
 *   npm run bench -- --only a,c        some of them
 *   npm run bench -- --quick           smaller numbers: rough figures in a minute or two
 *   npm run bench -- --json FILE       also as JSON
 */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { say, table, title } from '../demo/screen.ts'
import { api } from './api.ts'
import { Bench } from './bench.ts'
import { cancelling } from './cancel.ts'
import { HEAD, isMet, PARTS, ratioOf, rowOf, type Figure, type Part } from './figure.ts'
import { language } from './language.ts'
import { latency } from './latency.ts'
import { describeMachine } from './machine.ts'
import { memory } from './memory.ts'
import { queueDepth } from './queue-depth.ts'
import { spawnRates } from './spawn-rate.ts'
import { submit } from './submit.ts'
import { throughput } from './throughput.ts'

const MEASURES: Readonly<Record<Part, { what: string; measure: (bench: Bench) => AsyncIterable<Figure> }>> = {
  a: { what: 'targets a second, from submit to the last result', measure: throughput },
  b: { what: 'submitting many targets', measure: submit },
  c: { what: 'latency of an idle farm', measure: latency },
  d: { what: 'reading with many runs stored', measure: api },
  e: { what: 'cost of the queue when it is deep', measure: queueDepth },
  f: { what: 'starting processes from a heavy worker', measure: spawnRates },
  g: { what: 'memory', measure: memory },
  h: { what: 'the workflow language', measure: language },
  i: { what: 'cancelling', measure: cancelling },
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
  const named = values.only?.split(',').map((part) => part.trim()) ?? PARTS
  const unknown = named.filter((part) => !PARTS.some((known) => known === part))
  if (unknown.length > 0)
    throw new Error(`unknown part ${unknown.join(', ')}: the parts are ${PARTS.join(', ')}`)
  return {
    parts: PARTS.filter((part) => named.includes(part)),
    quick: values.quick === true,
    json: values.json,
  }
}

/** Figures of all parts; if a part fails, the rest of it is left out. */
async function measureAll(
  bench: Bench,
  parts: readonly Part[],
): Promise<{ figures: Figure[]; broken: Part[] }> {
  const figures: Figure[] = []
  const broken: Part[] = []
  for (const part of parts) {
    title(`(${part}) ${MEASURES[part].what}`)
    try {
      for await (const figure of MEASURES[part].measure(bench)) figures.push(figure)
    } catch (error) {
      if (bench.ended) break
      broken.push(part)
      say(`part ${part} could not be measured: ${error instanceof Error ? error.stack : String(error)}`)
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
  const bench = new Bench({ quick: options.quick })
  bench.disposeOnStop()
  try {
    title(`Scanfarm bench on ${Object.values(describeMachine()).join(', ')}`)
    const { figures, broken } = await measureAll(bench, options.parts)
    say('')
    table(HEAD, figures.map(rowOf))
    if (options.json !== undefined) await writeFile(options.json, asJson(figures, options.quick))
    const short = figures.filter((figure) => isMet(figure) === false).length
    const promised = figures.filter((figure) => isMet(figure) !== undefined).length
    say(
      `${promised - short} of ${promised} targets met; docs/performance.md explains why the others are not.`,
    )
    return broken.length === 0 ? 0 : 1
  } finally {
    await bench[Symbol.asyncDispose]()
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
