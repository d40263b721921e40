import {
  architecturesOf,
  factTexts,
  mirrorTool,
  statusOf,
  ToolError,
  toolProblems,
  type Tool,
} from '@scanfarm/tools'
import { Command, Option } from 'commander'
import { withOutput, wantsJson, type OutputOptions } from '../../client/connect.ts'
import { printJson, printTable } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { noun } from '../../noun.ts'
import { addWorkflow } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { installTools, labelOf, useProxy } from '../../tools/install-tools.ts'
import { openTools, selectedTools, type ToolOptions } from '../../tools/open-tools.ts'
import { showProgress } from '../../tools/progress.ts'
import { untilInterrupted } from '../../until-interrupted.ts'

const ARCHITECTURES = ['amd64', 'arm64']
const AT_ONCE = 4

/** Errors that the operator can correct end the command without a stack. */
const reporting =
  <A extends unknown[]>(act: (...args: A) => Promise<void>) =>
  async (...args: A): Promise<void> => {
    try {
      await act(...args)
    } catch (error) {
      throw error instanceof ToolError ? new CliError(EXIT.failed, error.message) : error
    }
  }

const toolCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--manifest <file>', 'your own manifest, whose entries replace the shipped ones (tools.manifest)')
    .option('--config <file>', 'settings file')

const forFlow = (command: Command): Command =>
  addWorkflow(
    command,
    new Option('-f, --flow <workflow>', 'the tools that this workflow needs: its name or file'),
  )

const fromMirror = (command: Command): Command =>
  command.option('--mirror <place>', 'URL or folder with the release files (tools.mirror)')

/** Four at a time: each starts a program, and some need a second of processor time. */
const statuses = async (tools: readonly Tool[], search: Parameters<typeof statusOf>[1]) => {
  const found = []
  for (let at = 0; at < tools.length; at += AT_ONCE)
    found.push(...(await Promise.all(tools.slice(at, at + AT_ONCE).map((tool) => statusOf(tool, search)))))
  return found
}

const sourceName = ({ debian }: Tool): string => (debian === undefined ? 'release' : `debian ${debian}`)

const listCommand = (terminal: Terminal): Command =>
  withOutput(forFlow(toolCommand('list', 'List the tools of workflows, and what this machine has of them.')))
    .argument('[name...]', 'tools; all, if none is given')
    .action(
      reporting(async (names: string[], options: ToolOptions & OutputOptions) => {
        const tools = openTools(terminal, options)
        const wanted = (await selectedTools(tools, names, options)) ?? [...tools.manifest.values()]
        const found = await statuses(wanted, tools.search)
        if (wantsJson(options))
          return printJson(
            terminal,
            found.map(({ tool, state, version, path, managed }) => ({
              name: tool.name,
              state,
              wanted: tool.version,
              version: version ?? null,
              path: path ?? null,
              managed,
              source: tool.debian === undefined ? 'release' : 'debian',
              package: tool.debian ?? null,
              purpose: tool.purpose,
              home: tool.home,
              license: tool.license,
            })),
          )
        printTable(
          terminal,
          [
            { title: 'TOOL', value: ({ tool }) => tool.name },
            { title: 'STATE', value: ({ state }) => state },
            { title: 'WANTED', value: ({ tool }) => tool.version },
            { title: 'FOUND', value: ({ version }) => version },
            { title: 'FROM', value: ({ tool }) => sourceName(tool) },
            { title: 'PATH', value: ({ path }) => path },
          ],
          found,
        )
      }),
    )

interface InstallOptions extends ToolOptions {
  readonly all?: boolean
  readonly arch?: string
  readonly force?: boolean
}

const installCommand = (terminal: Terminal): Command =>
  fromMirror(
    forFlow(
      toolCommand(
        'install',
        'Install tools: release files into the folders for tools, Debian packages by apt-get. Exit code 1 if one is not installed.',
      ),
    ),
  )
    .argument('[name...]', 'tools')
    .option('--all', 'all tools of the manifest')
    .option('--force', 'also replace what is installed, or was not installed by this program')
    .addOption(
      new Option('--arch <name>', 'architecture of the release files; default: that of this machine').choices(
        ARCHITECTURES,
      ),
    )
    .action(
      reporting(async (names: string[], { all, arch, force, ...options }: InstallOptions) => {
        const tools = openTools(terminal, options)
        const selected = await selectedTools(tools, names, options)
        if ((selected === undefined) === (all !== true))
          throw new CliError(EXIT.usage, 'name the tools to install, or give either --flow or --all')
        using interrupted = untilInterrupted()
        await installTools(
          { terminal, tools, arch, force, signal: interrupted.signal },
          selected ?? [...tools.manifest.values()],
        )
      }),
    )

const factsCommand = (terminal: Terminal): Command =>
  toolCommand(
    'facts',
    'Show what a tool was seen to do: rates, redirects, hosts that it contacts, exit codes, signals.',
  )
    .argument('<name...>', 'tools')
    .option('--json', 'as JSON')
    .action(
      reporting(async (names: string[], options: ToolOptions & { readonly json?: boolean }) => {
        const tools = await selectedTools(openTools(terminal, options), names, {})
        const known = (tools ?? []).filter(({ name }) => names.includes(name))
        if (options.json === true)
          return printJson(
            terminal,
            Object.fromEntries(known.map(({ name, facts }) => [name, facts ?? null])),
          )
        for (const tool of known) {
          printLine(terminal, tool.facts === undefined ? `${tool.name}: it was not tried` : tool.name)
          for (const [what, text] of factTexts(tool))
            printLine(terminal, `  ${what}: ${text.replaceAll('`', '')}`)
        }
      }),
    )

const verifyCommand = (terminal: Terminal): Command =>
  forFlow(
    toolCommand(
      'verify',
      'Check versions, and the files of installed releases against the SHA-256 of their installation; exit code 1 if a tool is missing, outdated or altered.',
    ),
  )
    .argument('[name...]', 'tools; all, if none is given')
    .action(
      reporting(async (names: string[], options: ToolOptions) => {
        const tools = openTools(terminal, options)
        const wanted = (await selectedTools(tools, names, options)) ?? [...tools.manifest.values()]
        let bad = 0
        for (const status of await statuses(wanted, tools.search)) {
          const problems = await toolProblems(status, tools.search.folders)
          const { tool, version, managed } = status
          if (problems.length > 0) bad += 1
          const checked = managed ? 'version and files' : 'version'
          const results = problems.length > 0 ? problems : [`ok, version ${version} (${checked} checked)`]
          for (const result of results) printLine(terminal, `${tool.name}: ${result}`)
        }
        if (bad > 0)
          throw new CliError(EXIT.failed, `${bad} of ${wanted.length} tools are missing, outdated or altered`)
      }),
    )

const mirrorCommand = (terminal: Terminal): Command =>
  fromMirror(
    forFlow(
      toolCommand(
        'mirror',
        'Put the release files of tools, for all architectures, into a folder from which machines without internet access install them.',
      ),
    ),
  )
    .argument('<folder>', 'folder of the mirror')
    .argument('[name...]', 'tools; all, if none is given')
    .action(
      reporting(async (folder: string, names: string[], options: ToolOptions) => {
        const tools = openTools(terminal, options)
        const wanted = (await selectedTools(tools, names, options)) ?? [...tools.manifest.values()]
        using interrupted = untilInterrupted()
        using _ = useProxy(terminal)
        const { signal } = interrupted
        const { mirror } = tools.config.tools
        for (const tool of wanted.filter((one) => architecturesOf(one).length > 0)) {
          const { onBytes, end } = showProgress(terminal, labelOf(tool))
          const files = await mirrorTool(tool, folder, { mirror, signal, onBytes }).finally(end)
          for (const { path, changed } of files)
            printLine(terminal, `${path}: ${changed ? 'downloaded' : 'was there'}`)
        }
      }),
    )

export const toolsCommand = noun(
  'tools',
  'Install and check the programs that workflows need on this machine.',
  [listCommand, installCommand, factsCommand, verifyCommand, mirrorCommand],
)
