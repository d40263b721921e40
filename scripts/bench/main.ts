/**
 * `npm run bench`: measures a farm, and the limit of this machine for the same work.
 *
 *   npm run bench                      all parts
 *   npm run bench -- --only idle       some of them, separated by commas
 *   npm run bench -- --quick           smaller numbers: rough figures after a minute or two
 *   npm run bench -- --json FILE       writes the figures as JSON, too
 */
import { writeFile } from 'node:fs/promises'
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { say, table, title } from '@scanfarm/cli/demo'
import { Harness } from './farm.ts'
import { HEAD, isMet, ratioOf, rowOf, type Figure } from './figure.ts'
import { growth } from './growth.ts'
import { latency } from './latency.ts'
import { submit } from './submit.ts'
import { throughput } from './throughput.ts'

const PARTS: Readonly<Record<string, (harness: Harness) => AsyncIterable<Figure>>> = {
  throughput,
  submit,
  idle: latency,
  growth,
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'string' } },
  })
  const { only, quick = false, json } = values
  const names = only?.split(',') ?? Object.keys(PARTS)
  const unknown = names.filter((name) => PARTS[name] === undefined)
  if (unknown.length > 0)
    throw new Error(`unknown part ${unknown.join(', ')}: the parts are ${Object.keys(PARTS).join(', ')}`)
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Linux ${release()}, Node ${process.version}`
  await using harness = new Harness({ quick })
  const figures: Figure[] = []
  for (const name of names) {
    title(`${name} on ${machine}`)
    for await (const figure of PARTS[name]?.(harness) ?? []) figures.push(figure)
  }
  say('')
  table(HEAD, figures.map(rowOf))
  const judged = figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), met: isMet(figure) }))
  if (json !== undefined) await writeFile(json, JSON.stringify({ machine, quick, figures: judged }, null, 2))
  const goals = judged.filter(({ met }) => met !== undefined)
  say(`${goals.filter(({ met }) => met).length} of ${goals.length} goals are met`)
  return 0
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
