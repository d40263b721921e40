import { errorText } from '@scanfarm/platform'
import { Command } from 'commander'
import { CliError, EXIT } from '../../exit.ts'
import { loadSettings, type Config } from '../../settings.ts'
import { printLine, type Terminal } from '../../terminal.ts'

interface HealthOptions {
  readonly config?: string
  readonly worker?: boolean
}

const TIMEOUT_MS = 8_000

const ANY_ADDRESS = ['', '0.0.0.0', '::']

/** The address where servers and workers of this machine answer. */
const hostOf = ({ http: { host } }: Config): string => {
  if (ANY_ADDRESS.includes(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

const portOf = (config: Config, worker: boolean): number => {
  const port = worker ? config.worker.healthPort : config.http.port
  if (port !== 0) return port
  const key = worker ? 'worker.health_port' : 'http.port'
  throw new CliError(EXIT.usage, `${key} is 0, so the program has no health port: set it`)
}

/** For the health checks of containers and service managers. */
export const healthCommand = (terminal: Terminal): Command =>
  new Command('health')
    .description('Check whether the server or the worker on this machine is ready; exit code 0 or 4.')
    .option('--worker', 'check the worker (worker.health_port) instead of the server')
    .option('--config <file>', 'settings file')
    .action(async (options: HealthOptions) => {
      const { config } = loadSettings(terminal, options.config)
      const worker = options.worker === true
      const url = `http://${hostOf(config)}:${portOf(config, worker)}/health/ready`
      const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
        throw new CliError(EXIT.unreachable, `nothing answers at ${url}: ${errorText(error)}`)
      })
      const body = await answer.text()
      if (!answer.ok) throw new CliError(EXIT.unreachable, `not ready: ${body}`)
      printLine(terminal, body.trim())
    })
