/**
 * `npm run demo`: a master, two workers and something to scan, all on this machine, from nothing to results.
 *
 *   npm run demo              runs and cleans up; exit code 0 only if every run found what it should
 *   npm run demo -- --keep    the same, but the farm goes on in the background; prints SCANFARM_URL and SCANFARM_TOKEN
 *   npm run demo -- --down    stops a farm that was kept
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from './client.ts'
import { Farm, stopKept } from './farm.ts'
import { judge } from './judge.ts'
import type { LabTarget } from './lab.ts'
import { showResults } from './results.ts'
import { say, title } from './screen.ts'
import { watchJob } from './watch.ts'

const FLOW = 'service-survey'

async function demo(keep: boolean, folder: string): Promise<number> {
  title('Scanfarm demo')
  mkdirSync(folder, { recursive: true })
  await using farm = await Farm.start(folder, { keep })
  const client = new Client(farm.url, farm.token)
  await describeFarm(client, farm)
  const targets = farm.targets
  const file = await client.upload('targets.txt', targets.map(({ target }) => target).join('\n'))
  say(`uploaded ${file.filename} with ${file.lines} targets`)
  const job = await client.post<{ job_id: string; target_count: number }>('/runs', {
    flow: FLOW,
    target_file: file.path,
    run_mode: 'distributed',
  })
  say(`job ${job.job_id}: flow ${FLOW} on ${job.target_count} targets, distributed over the workers\n`)
  const finished = await watchJob(client, job.job_id)
  const problems = await report(client, finished.runs, targets)
  if (problems === 0 && keep) farm.leaveRunning()
  farewell(farm, keep && problems === 0)
  return problems === 0 ? 0 : 1
}

async function describeFarm(client: Client, farm: Farm): Promise<void> {
  const info = await client.get<{ version: string }>('/server-info')
  for (const line of farm.services()) say(line)
  say(`master ${info.version} at ${farm.url}`)
  const workers = await client.get<{ data: { name: string; slots: number; kind: string }[] }>('/workers')
  for (const worker of workers.data.filter(({ kind }) => kind === 'worker'))
    say(`worker ${worker.name} with ${worker.slots} slots`)
  say(
    `lab: ${farm.targets.length} targets on loopback, ${farm.targets.filter(({ open }) => !open).length} of them closed`,
  )
}

async function report(
  client: Client,
  runs: readonly { run_uuid: string }[],
  targets: readonly LabTarget[],
): Promise<number> {
  const results = await showResults(client, runs)
  const problems = judge(results, targets)
  for (const problem of problems) say(`PROBLEM: ${problem}`)
  say(
    problems.length === 0
      ? '\nEvery run found what it should.'
      : `\n${problems.length} results are not as expected.`,
  )
  return problems.length
}

function farewell(farm: Farm, kept: boolean): void {
  if (kept) {
    say(
      '\nThe farm goes on in the background. Look further with scripts/scanfarm or curl; stop it with: npm run demo -- --down\n',
    )
    console.log(`SCANFARM_URL=${farm.url}`)
    console.log(`SCANFARM_TOKEN=${farm.token}`)
  } else {
    say('\nStopping the farm. To keep it and look further: npm run demo -- --keep')
  }
}

async function main(args: readonly string[]): Promise<number> {
  const folder = process.env.SCANFARM_DATA_DIR ?? join(import.meta.dirname, '../../.scanfarm/demo')
  const unknown = args.find((arg) => !['--keep', '--down'].includes(arg))
  if (unknown !== undefined) {
    console.error(`demo: unknown option ${unknown}; there are --keep and --down`)
    return 2
  }
  if (args.includes('--down')) return stopKept(folder)
  return demo(args.includes('--keep'), folder)
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
