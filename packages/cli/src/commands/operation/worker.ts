import { createLogger, runMain } from '@scanfarm/platform'
import { Command } from 'commander'
import { collect } from '../../options.ts'
import { loadSettings } from '../../settings.ts'
import type { Terminal } from '../../terminal.ts'
import { drainCommand, resumeCommand } from './workers.ts'

/** Time after the drain to kill commands and close connections. */
const CLOSE_MS = 45_000

interface WorkerOptions {
  readonly name?: string
  readonly slots?: string
  readonly label?: string[]
  readonly config?: string
}

export const workerCommand = (terminal: Terminal): Command =>
  new Command('worker')
    .description('Take distributed runs from the queue and execute them.')
    .option('--name <name>', 'name of this worker')
    .option('--slots <number>', 'number of runs at the same time')
    .option('--label <name=value>', 'label that workflows may require; repeatable', collect)
    .option('--config <file>', 'settings file')
    .action(async (options: WorkerOptions) => {
      const { config } = loadSettings(terminal, options.config, {
        'worker.name': options.name,
        'worker.slots': options.slots,
        'worker.labels': options.label,
      })
      const log = createLogger(config.log)
      const { startWorker } = await import('@scanfarm/worker')
      await runMain((stopping) => startWorker(config, { log, stopping }), {
        log,
        stopMs: config.worker.drainMs + CLOSE_MS,
      })
    })
    .addCommand(drainCommand(terminal))
    .addCommand(resumeCommand(terminal))
