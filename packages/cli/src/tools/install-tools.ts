import http from 'node:http'
import { installTool, ownArchitecture, statusOf, ToolError, toolProblems, type Tool } from '@scanfarm/tools'
import { CliError, EXIT } from '../exit.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { installDebian } from './debian.ts'
import { showProgress } from './progress.ts'
import type { Tools } from './open-tools.ts'

/** Requests use the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. Node 22 cannot change it while it runs. */
export const useProxy = ({ env }: Terminal): Disposable => {
  const restore = (http as Partial<typeof http>).setGlobalProxyFromEnv?.({ ...env })
  return { [Symbol.dispose]: () => restore?.() }
}

export const labelOf = ({ name, version }: Tool): string => `${name} ${version}`

export interface Installation {
  readonly terminal: Terminal
  readonly tools: Tools
  readonly arch?: string
  readonly force?: boolean
  readonly signal: AbortSignal
}

/** Installed for another machine: its programs cannot be asked here. */
const isForeign = ({ arch = ownArchitecture() }: Installation): boolean => arch !== ownArchitecture()

const installRelease = async (installation: Installation, tool: Tool): Promise<void> => {
  const { terminal, tools, arch, force, signal } = installation
  const { config, search } = tools
  const status = await statusOf(tool, search)
  if (!isForeign(installation) && force !== true && status.state === 'ok' && !status.managed)
    return printLine(terminal, `${tool.name}: version ${status.version} was there: ${status.path}`)
  const { onBytes, end } = showProgress(terminal, labelOf(tool))
  const { path, changed } = await installTool(tool, {
    folders: search.folders,
    mirror: config.tools.mirror,
    architecture: arch,
    force,
    signal,
    onBytes,
  }).finally(end)
  const [problem] = isForeign(installation)
    ? []
    : await toolProblems(await statusOf(tool, search), search.folders)
  if (problem !== undefined) throw new ToolError(`${tool.name}: ${problem}`)
  printLine(
    terminal,
    `${tool.name}: version ${tool.version} ${changed ? 'installed' : 'was installed'}: ${path}`,
  )
}

/** Installs the packages that are missing, all at once: apt-get resolves their dependencies together. */
const installPackages = async (installation: Installation, wanted: readonly Tool[]): Promise<void> => {
  const { terminal, tools, force } = installation
  if (isForeign(installation)) {
    if (wanted.length > 0)
      terminal.err.write(
        `for another architecture, no Debian packages are installed: ${wanted.map(({ name }) => name).join(', ')}\n`,
      )
    return
  }
  const missing: Tool[] = []
  for (const tool of wanted) {
    const { state, version, path } = await statusOf(tool, tools.search)
    if (state === 'ok' && force !== true)
      printLine(terminal, `${tool.name}: version ${version} was there: ${path}`)
    else missing.push(tool)
  }
  if (missing.length === 0) return
  await installDebian(terminal, [...new Set(missing.map(({ debian = '' }) => debian))].sort())
  for (const tool of missing) {
    const status = await statusOf(tool, tools.search)
    if (status.state === 'outdated')
      throw new ToolError(
        `${tool.name}: ${tool.version} is needed, and this release of Debian has ${status.version}: use a newer release, or put a newer program into ${tools.search.folders.binaries}`,
      )
    const [problem] = await toolProblems(status, tools.search.folders)
    if (problem !== undefined) throw new ToolError(`${tool.name}: ${problem}`)
    printLine(terminal, `${tool.name}: version ${status.version} installed: ${status.path}`)
  }
}

/** Installs what is missing. A tool that cannot be installed does not stop the others. */
export const installTools = async (installation: Installation, wanted: readonly Tool[]): Promise<void> => {
  const { terminal, signal } = installation
  using _ = useProxy(terminal)
  let failures = 0
  const attempt = async (work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ToolError)) throw error
      failures += 1
      terminal.err.write(`${error.message}\n`)
    }
  }
  const isPackage = ({ debian }: Tool): boolean => debian !== undefined
  await attempt(installPackages(installation, wanted.filter(isPackage)))
  for (const tool of wanted) if (!isPackage(tool)) await attempt(installRelease(installation, tool))
  if (failures > 0) throw new CliError(EXIT.failed, 'not all tools were installed')
}
