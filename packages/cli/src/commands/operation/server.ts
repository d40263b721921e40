import { createLogger, findConfigFile, runMain } from '@scanfarm/platform'
import { Command } from 'commander'
import { loadSettings, SETTINGS } from '../../settings.ts'
import type { Terminal } from '../../terminal.ts'

/** Time after the drain to close connections and embedded services. */
const CLOSE_MS = 45_000

interface ServerOptions {
  readonly master?: boolean
  readonly host?: string
  readonly port?: string
  readonly config?: string
}

export const serverCommand = (terminal: Terminal): Command =>
  new Command('server')
    .description('Serve the API and execute local runs; with --master, also queue runs for workers.')
    .option('--master', 'accept distributed runs and queue them for workers')
    .option('--host <address>', 'address to listen on')
    .option('--port <number>', 'port to listen on')
    .option('--config <file>', 'settings file')
    .action(async (options: ServerOptions) => {
      const file = findConfigFile(terminal.env, options.config)
      const read = () =>
        loadSettings(terminal, file, {
          'server.master': options.master,
          'http.host': options.host,
          'http.port': options.port,
        })
      const { config, origins } = read()
      const log = createLogger(config.log)
      const { startServer } = await import('@scanfarm/server')
      await runMain(
        async () => {
          const server = await startServer(
            config,
            {
              master: config.server.master,
              settings: { file, table: SETTINGS, origins, read: () => read().config },
            },
            { log },
          )
          if (terminal.err.isTTY === true)
            terminal.err.write(`\nConsole: ${server.url}/  (log in with: scanfarm open)\n\n`)
          return server
        },
        {
          log,
          stopMs: config.worker.drainMs + CLOSE_MS,
        },
      )
    })
