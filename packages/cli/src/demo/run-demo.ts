import type { components } from '@scanfarm/client'
import { makeDataDir } from '@scanfarm/embedded'
import { Api } from '../client/api.ts'
import { Farm } from './farm.ts'
import { judge, judgeMachines } from './judge.ts'
import type { DemoSetup } from './machines.ts'
import { showResults, type Result } from './results.ts'
import { say, title } from './screen.ts'
import { MachineWatch } from './watch-machines.ts'
import { watchJob } from './watch.ts'

const FLOW = 'service-survey'

const MACHINES = 3

export interface DemoOptions {
  readonly keep: boolean
  readonly cloud: boolean
}

/** Starts a master, two workers and services to scan on this machine, and shows the results. Returns the exit code. */
export async function runDemo(options: DemoOptions, setup: DemoSetup): Promise<number> {
  title('Scanfarm demo')
  await makeDataDir(setup.folder)
  await using farm = await Farm.start(setup, options)
  const api = new Api(farm)
  await describeFarm(api, farm)
  const job = await submit(api, farm, options)
  const watch = job.infra_id === undefined ? undefined : new MachineWatch(api, job.infra_id)
  const finished = await watchJob(api, job.job_id, () => watchMachines(farm, watch))
  const results = await showResults(api, finished.runs)
  const problems = [
    ...judge(results, farm.targets),
    ...(watch === undefined ? [] : await endOfMachines(farm, watch, results)),
  ]
  report(problems)
  const good = problems.length === 0
  if (good && options.keep) farm.leaveRunning()
  farewell(farm, setup, options.keep && good ? await newLink(api) : undefined)
  return good ? 0 : 1
}

async function submit(
  api: Api,
  farm: Farm,
  { cloud }: DemoOptions,
): Promise<components['schemas']['RunsCreated']> {
  const targets = new Blob([farm.targets.map(({ target }) => target).join('\n')])
  const file = await api.upload<{ filename: string; path: string; lines: number }>(
    '/upload-file',
    'targets.txt',
    targets,
  )
  say(`uploaded ${file.filename} with ${file.lines} targets`)
  const body: components['schemas']['CreateRuns'] = {
    flow: FLOW,
    target_file: file.path,
    ...(cloud
      ? { run_mode: 'cloud', cloud_instances: MACHINES, cloud_auto_destroy: true }
      : { run_mode: 'distributed' }),
  }
  const job = await api.call(({ POST }) => POST('/runs', { body }))
  const where = cloud
    ? `on ${MACHINES} machines of infrastructure ${job.infra_id}`
    : 'distributed over the workers'
  say(`job ${job.job_id}: flow ${FLOW} on ${job.target_count} targets, ${where}\n`)
  return job
}

async function watchMachines(farm: Farm, watch: MachineWatch | undefined): Promise<string> {
  if (watch === undefined) return ''
  await farm.machines?.belongTo(watch.infraId)
  return await watch.note()
}

/** Asks the engine whether the machines are really gone. */
async function endOfMachines(farm: Farm, watch: MachineWatch, results: readonly Result[]): Promise<string[]> {
  const infra = await watch.ended()
  const left = (await farm.machines?.of(watch.infraId)) ?? []
  say(
    `\nthe docker engine has ${left.length === 0 ? 'none' : left.length} of the ${infra.details.length} machines left`,
  )
  return judgeMachines(infra, results, left)
}

async function describeFarm(api: Api, farm: Farm): Promise<void> {
  const info = await api.call(({ GET }) => GET('/server-info'))
  for (const line of farm.services()) say(line)
  say(`master ${info.version} at ${farm.url}`)
  await sayConsole(api, farm)
  const workers = await api.call(({ GET }) => GET('/workers'))
  for (const worker of workers.data.filter(({ kind }) => kind === 'worker'))
    say(`worker ${worker.name} with ${worker.slots} slots`)
  say(
    `lab: ${farm.targets.length} targets on ${farm.machines?.host ?? 'loopback'}, ${farm.targets.filter(({ open }) => !open).length} of them closed`,
  )
}

/** The first request makes a checkout build the console: later the page opens at once. */
async function sayConsole(api: Api, farm: Farm): Promise<void> {
  const { status } = await fetch(farm.url, { method: 'HEAD' })
  if (status !== 404) say(`console: ${await newLink(api)}`)
}

function report(problems: readonly string[]): void {
  for (const problem of problems) say(`PROBLEM: ${problem}`)
  say(
    problems.length === 0
      ? '\nEvery run has the expected findings.'
      : `\n${problems.length} results are not as expected.`,
  )
}

/** An address that opens the console in a browser, logged in. */
const newLink = async (api: Api): Promise<string> =>
  (await api.call(({ POST }) => POST('/session/links'))).url

/** `link`: the farm is kept. */
function farewell(farm: Farm, { command, scanfarm }: DemoSetup, link: string | undefined): void {
  if (link !== undefined) {
    say(`\nOpen the console, logged in (once, within 10 minutes; later with ${scanfarm} open):\n\n  ${link}`)
    say(
      `\nThe farm keeps running in the background. Use it with ${scanfarm} or curl; stop it with: ${command} --down\n`,
    )
    console.log(`SCANFARM_URL=${farm.url}`)
    console.log(`SCANFARM_TOKEN=${farm.token}`)
  } else {
    say(`\nStopping the farm. To keep it running: ${command} --keep`)
  }
}
