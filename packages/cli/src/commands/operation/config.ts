import { settingsMarkdown, showConfig } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { loadSettings, SETTINGS } from '../../settings.ts'
import { printLine, type Terminal } from '../../terminal.ts'

interface ConfigOptions {
  readonly config?: string
  readonly docs?: boolean
  readonly output: 'yaml' | 'json'
}

const yamlLine = (key: string, value: unknown, origin: string): string =>
  `${key}: ${value === null ? '' : JSON.stringify(value)}  # ${origin}`

export const configCommand = (terminal: Terminal): Command =>
  new Command('config')
    .description('Print the settings in force and the origin of each. Secrets are masked.')
    .option('--config <file>', 'settings file')
    .option('--docs', 'print the table of all settings as Markdown instead')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['yaml', 'json']).default('yaml'))
    .action((options: ConfigOptions) => {
      if (options.docs) return printLine(terminal, settingsMarkdown(SETTINGS))
      const shown = showConfig(SETTINGS, loadSettings(terminal, options.config))
      if (options.output === 'json') return printLine(terminal, JSON.stringify(shown, null, 2))
      for (const { key, value, origin } of shown) printLine(terminal, yamlLine(key, value, origin))
    })
