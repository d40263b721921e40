import {
  findProgram,
  readManifest,
  selectTools,
  ToolError,
  type Manifest,
  type Tool,
  type ToolSearchPath,
} from '@scanfarm/tools'
import { toolFoldersOf } from '@scanfarm/worker'
import { CliError, EXIT } from '../exit.ts'
import { loadSettings, type Config } from '../settings.ts'
import type { Terminal } from '../terminal.ts'

export interface ToolOptions {
  readonly config?: string
  readonly manifest?: string
  readonly mirror?: string
  readonly flow?: string
}

/** What this machine has, and the manifest in force. */
export interface Tools {
  readonly config: Config
  readonly manifest: Manifest
  readonly search: ToolSearchPath
}

export const openTools = (terminal: Terminal, options: ToolOptions): Tools => {
  const { config } = loadSettings(terminal, options.config, {
    'tools.manifest': options.manifest,
    'tools.mirror': options.mirror,
  })
  return {
    config,
    manifest: readManifest(config.tools.manifest),
    search: { folders: toolFoldersOf(config), path: config.runner.path },
  }
}

const TOOL = 'tool:'

/** The tools that a workflow requires. Programs that are not in the manifest must be installed. */
const toolsOfFlow = async ({ config, manifest, search }: Tools, flow: string): Promise<Tool[]> => {
  const [{ findWorkflow }, { requirements }] = await Promise.all([
    import('../workflows/find-workflow.ts'),
    import('@scanfarm/engine'),
  ])
  const words = requirements(await findWorkflow(config, flow))
  const names = words.filter((word) => word.startsWith(TOOL)).map((word) => word.slice(TOOL.length))
  for (const name of names)
    if (!manifest.has(name) && (await findProgram(name, search)) === undefined)
      throw new ToolError(
        `${flow} needs ${name}, which the manifest does not have: put the program into ${search.folders.binaries}, or add it to your own manifest (tools.manifest)`,
      )
  return selectTools(
    manifest,
    names.filter((name) => manifest.has(name)),
  )
}

/** The tools that the arguments name; undefined if they name none. */
export const selectedTools = async (
  tools: Tools,
  names: readonly string[],
  { flow }: ToolOptions,
): Promise<Tool[] | undefined> => {
  if (flow !== undefined && names.length > 0)
    throw new CliError(EXIT.usage, 'give either names of tools or --flow')
  try {
    if (flow !== undefined) return await toolsOfFlow(tools, flow)
    return names.length > 0 ? selectTools(tools.manifest, names) : undefined
  } catch (error) {
    throw error instanceof ToolError ? new CliError(EXIT.usage, error.message) : error
  }
}
