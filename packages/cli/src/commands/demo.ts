import { join } from 'node:path'
import { Command } from 'commander'
import { CliError, EXIT } from '../exit.ts'
import { loadSettings } from '../settings.ts'
import type { Terminal } from '../terminal.ts'

interface DemoCommandOptions {
  readonly keep?: boolean
  readonly down?: boolean
}

export const demoCommand = (terminal: Terminal): Command =>
  new Command('demo')
    .description('Start a master, two workers and services to scan on this machine, and show what they find.')
    .option('--keep', 'let the farm run in the background; prints its URL and its token')
    .option('--down', 'stop the farm that --keep left running')
    .action(async ({ keep = false, down = false }: DemoCommandOptions) => {
      const { config } = loadSettings(terminal, undefined)
      const { runDemo, stopKept } = await import('../demo/index.ts')
      const scanfarm = terminal.env.npm_command === 'exec' ? 'npx scanfarm' : 'scanfarm'
      const setup = {
        folder: join(config.dataDir, 'demo'),
        program: [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)],
        scanfarm,
        command: `${scanfarm} demo`,
      }
      const code = down ? await stopKept(setup) : await runDemo({ keep, cloud: false }, setup)
      if (code !== 0) throw new CliError(EXIT.failed, 'the demo did not find what it expects')
    })
