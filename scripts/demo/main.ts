/**
 * `npm run demo`: starts a master, two workers and services to scan on this machine, and shows the results.
 *
 *   npm run demo              runs and cleans up; exit code 0 only if every run has the expected findings
 *   npm run demo -- --keep    the same, but the farm keeps running in the background; prints SCANFARM_URL and SCANFARM_TOKEN
 *   npm run demo -- --cloud   the same on three machines that are created for it and destroyed after it: containers of a
 *                             docker engine, from the provider `local`; with --keep, this farm keeps running
 *   npm run demo -- --down    stops a kept farm and removes its machines
 */
import { join } from 'node:path'
import { runDemo, stopKept, type DemoSetup } from '@scanfarm/cli/demo'

const setup: DemoSetup = {
  folder: process.env.SCANFARM_DATA_DIR ?? join(import.meta.dirname, '../../.scanfarm/demo'),
  program: [join(import.meta.dirname, '../scanfarm')],
  scanfarm: 'scripts/scanfarm',
  command: 'npm run demo --',
  loadMachines: async () => (await import('./machines.ts')).EngineMachines,
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => !['--keep', '--cloud', '--down'].includes(arg))
  if (unknown !== undefined) {
    console.error(`demo: unknown option ${unknown}: the options are --keep, --cloud and --down`)
    return 2
  }
  if (args.includes('--down')) return stopKept(setup)
  return runDemo({ keep: args.includes('--keep'), cloud: args.includes('--cloud') }, setup)
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
