import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createLogger, errorText, fileErrorText } from '@scanfarm/platform'
import type { BasePart, BaseReport, PartReport } from '@scanfarm/server/operations'
import { Command, InvalidArgumentError, Option } from 'commander'
import { plain, printJson, printTable } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { loadSettings } from '../../settings.ts'
import { printLine, type Terminal } from '../../terminal.ts'

const PARTS: readonly BasePart[] = ['settings', 'workflows', 'runs', 'findings', 'files']

interface ImportOptions {
  readonly config?: string
  readonly dryRun?: boolean
  readonly workspaces?: string
  readonly only: readonly BasePart[]
  readonly settingsOut?: string
  readonly output: 'table' | 'json'
}

const partsOf = (text: string): BasePart[] =>
  text.split(',').map((word) => {
    const part = PARTS.find((name) => name === word.trim())
    if (part === undefined)
      throw new InvalidArgumentError(`must be one or more of ${PARTS.join(', ')}, separated by commas`)
    return part
  })

const count = (title: string, field: 'found' | 'added' | 'known' | 'left_out') => ({
  title,
  value: (part: PartReport) => part[field],
})

const print = (terminal: Terminal, { parts, settings, dry_run }: BaseReport): void => {
  if (settings.length > 0) {
    printTable(
      terminal,
      [
        { title: 'OSMEDEUS SETTING', value: ({ key }) => key },
        { title: 'SCANFARM SETTING', value: ({ setting }) => setting || '-' },
        { title: '', value: ({ note }) => note },
      ],
      settings,
    )
    printLine(terminal, '')
  }
  if (parts.length === 0) return
  printTable(
    terminal,
    [
      { title: 'PART', value: ({ part }) => part },
      count('FOUND', 'found'),
      count(dry_run ? 'NEW' : 'ADDED', 'added'),
      count('KNOWN', 'known'),
      count('LEFT OUT', 'left_out'),
    ],
    parts,
  )
  for (const { part, notes } of parts)
    for (const note of notes) printLine(terminal, plain(`${part}: ${note}`))
  if (dry_run) printLine(terminal, 'Nothing was written: this was a dry run.')
}

/** The file contains secrets, so only its owner can read it. An existing file is not overwritten. */
const writeSettings = async (file: string, yaml: string): Promise<void> => {
  try {
    await writeFile(file, yaml, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw new CliError(EXIT.failed, `${file} cannot be written: ${fileErrorText(error)}`)
  }
}

/** Runs before anything is imported. */
const checkSettingsOut = ({ settingsOut, only }: ImportOptions): void => {
  if (settingsOut === undefined) return
  if (!only.includes('settings'))
    throw new CliError(EXIT.usage, '--settings-out needs the part settings: add it to --only')
  if (existsSync(settingsOut))
    throw new CliError(EXIT.usage, `${settingsOut} already exists and is not overwritten: name a new file`)
  if (!existsSync(dirname(resolve(settingsOut))))
    throw new CliError(EXIT.usage, `${dirname(resolve(settingsOut))} is not a folder: create it first`)
}

const importBase = async (terminal: Terminal, folder: string, options: ImportOptions): Promise<void> => {
  checkSettingsOut(options)
  const { config } = loadSettings(terminal, options.config)
  const log = createLogger({ level: 'warn', stream: terminal.err })
  const operations = await import('@scanfarm/server/operations')
  const { dryRun = false, workspaces, only: parts } = options
  const report = await operations
    .importBase(config, log, { folder, workspaces, parts, dryRun })
    .catch((error: unknown) => {
      throw new CliError(EXIT.failed, errorText(error))
    })
  const { settings_yaml: yaml, ...shown } = report
  if (options.output === 'json') printJson(terminal, shown)
  else print(terminal, report)
  if (options.settingsOut === undefined) return
  const why = dryRun ? 'this was a dry run' : yaml === '' ? 'no setting carries over' : undefined
  if (why !== undefined) {
    terminal.err.write(`${options.settingsOut} was not written: ${why}\n`)
    return
  }
  await writeSettings(options.settingsOut, yaml)
  terminal.err.write(`wrote ${options.settingsOut}; review it, and pass it with --config\n`)
}

export const importBaseCommand = (terminal: Terminal): Command =>
  new Command('import-base')
    .description(
      'Bring workflows, settings, runs, findings and files of an Osmedeus base folder into the database and folders of these settings. It can be repeated: existing records are not changed.',
    )
    .argument('<folder>', 'base folder, which contains osm-settings.yaml')
    .option('--dry-run', 'write nothing; print what would be imported')
    .option('--workspaces <folder>', 'folder of the workspaces; default: that of its settings')
    .addOption(
      new Option('--only <parts>', `parts to import, separated by commas: ${PARTS.join(', ')}`)
        .argParser(partsOf)
        .default(PARTS, 'all'),
    )
    .option('--settings-out <file>', 'write the settings that carry over to this new file, secrets included')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .action((folder: string, options: ImportOptions) => importBase(terminal, folder, options))
