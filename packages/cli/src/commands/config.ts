import { settingsMarkdown, showConfig } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface ConfigOptions {
  readonly config?: string
  readonly docs?: boolean
  readonly output: 'yaml' | 'json'
}

const yamlLine = (key: string, value: unknown, origin: string): string =>
  `${key}: ${value === null ? '' : JSON.stringify(value)}  # ${origin}`

export const configCommand = (terminal: Terminal): Command =>
  new Command('config')
    .description('Print the settings in force and where each comes from, secrets masked.')
    .option('--config <file>', 'settings file')
    .option('--docs', 'print the table of all settings as Markdown instead')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .action((options: ConfigOptions) => {
      if (options.docs) return printLine(terminal, settingsMarkdown())
      const shown = showConfig(loadSettings(terminal, options.config))
      if (options.output === 'json') return printLine(terminal, JSON.stringify(shown, null, 2))
      for (const { key, value, origin } of shown) printLine(terminal, yamlLine(key, value, origin))
    })
