import { TOOL } from '@scanfarm/contracts'
import { createLogger, errorText } from '@scanfarm/platform'
import { installAdvice } from '@scanfarm/tools'
import { connect, printAnswer, type ClientOptions } from '../../client/connect.ts'
import { printTable } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { loadSettings, type Config } from '../../settings.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { failedParts, printChecks, type Check } from './checks.ts'

export interface FlowOptions extends ClientOptions {
  readonly flow?: string
  readonly module?: string
  readonly target?: string
  readonly param?: Record<string, string>
}

interface Machine {
  readonly name: string
  readonly kind: 'worker' | 'server' | 'machine'
  readonly able: boolean
  readonly missing: readonly string[]
  readonly tools: readonly { readonly name: string; readonly version: string }[]
}

interface Examined {
  readonly checks: Check[]
  readonly needs: readonly string[]
  readonly machines: readonly Machine[]
}

const nameOf = (need: string): string => (need.startsWith(TOOL) ? need.slice(TOOL.length) : need)

const install = (needs: readonly string[]): string => {
  const tools = needs.filter((need) => need.startsWith(TOOL)).map(nameOf)
  return [
    ...(tools.length === 0 ? [] : [`on its machine, ${installAdvice(tools)}`]),
    ...(needs.includes('docker') ? ['give it access to a docker engine'] : []),
  ].join(', and ')
}

const paramChecks = (problems: readonly { readonly path: string; readonly message: string }[]): Check[] =>
  problems.length === 0
    ? [{ part: 'params', status: 'ok', message: 'complete' }]
    : problems.map(({ path, message }) => {
        const name = path.replace(/^\/params\//, '')
        const isTarget = path === '/target'
        return {
          part: isTarget ? 'target' : 'params',
          status: 'failed',
          message: isTarget || !message.includes('missing') ? message : `${message}: add -p ${name}=VALUE`,
        }
      })

/** Whether one of the machines can execute the runs, and else what the best of them lacks. */
const machineCheck = (machines: readonly Machine[]): Check => {
  const able = machines.filter((machine) => machine.able)
  if (able.length > 0)
    return { part: 'tools', status: 'ok', message: `${able.length} of ${machines.length} can run it` }
  const [best] = machines.toSorted((a, b) => a.missing.length - b.missing.length)
  if (best === undefined)
    return {
      part: 'tools',
      status: 'failed',
      message: 'no worker is connected: start one with "scanfarm worker"',
    }
  const lacks = best.missing.map(nameOf).join(', ')
  return {
    part: 'tools',
    status: 'failed',
    message: `none can run it; ${best.name} lacks ${lacks}: ${install(best.missing)}`,
  }
}

const byServer = async (terminal: Terminal, options: FlowOptions, name: string): Promise<Examined> => {
  const api = connect(terminal, options)
  const { version, run_modes: modes } = await api.call(({ GET }) => GET('/server-info'))
  const checks: Check[] = [{ part: 'master', status: 'ok', message: `version ${version}` }]
  const body = {
    ...(options.param && { params: options.param }),
    ...(options.target !== undefined && { target: options.target }),
  }
  const { data } = await api.call(({ POST }) =>
    POST('/workflows/{name}/needs', { params: { path: { name } }, body }),
  )
  checks.push({ part: 'login', status: 'ok', message: 'the token is accepted' })
  const kind = options.flow === undefined ? 'module' : 'flow'
  if (data.kind !== kind)
    throw new CliError(EXIT.usage, `"${name}" is a ${data.kind}: use ${data.kind === 'flow' ? '-f' : '-m'}`)
  const workers = data.workers.filter((worker) => worker.kind === 'worker')
  const isLocal = modes.includes('local') && (workers.length === 0 || !modes.includes('distributed'))
  const machines = isLocal ? data.workers.filter(({ kind: one }) => one === 'server') : workers
  if (modes.includes('distributed'))
    checks.push({
      part: 'workers',
      status: workers.length === 0 && !isLocal ? 'warning' : 'ok',
      message:
        workers.length > 0
          ? `${workers.length} connected`
          : isLocal
            ? 'none is connected: runs are executed by the server'
            : 'none is connected: start one with "scanfarm worker"',
    })
  checks.push({ part: 'workflow', status: 'ok', message: `${data.kind} ${data.name}` })
  checks.push(...paramChecks(data.problems), machineCheck(machines))
  return { checks, needs: data.needs, machines }
}

/** Without a server: what `scanfarm exec` needs on this machine. */
const byMachine = async (
  terminal: Terminal,
  config: Config,
  options: FlowOptions,
  name: string,
): Promise<Examined> => {
  const [{ findWorkflow }, { checkParams, possibleModules, requirements, targetMismatch }, operations] =
    await Promise.all([
      import('../../workflows/find-workflow.ts'),
      import('@scanfarm/engine'),
      import('@scanfarm/server/operations'),
    ])
  const resolved = await findWorkflow(config, name, options.flow === undefined ? 'module' : 'flow')
  const { param: params = {}, target } = options
  const mismatch = target === undefined ? undefined : targetMismatch(resolved, target)
  const modules = await possibleModules(resolved, {
    params,
    targets: target === undefined ? undefined : [target],
    operatorVariables: config.workflows.variables.map((variable) => variable.name),
  })
  const needs = requirements(resolved, { modules })
  const log = createLogger({ level: 'error', stream: terminal.err })
  const wanted = needs.filter((need) => need.startsWith(TOOL)).map(nameOf)
  const { usable, tools, docker } = await operations.machineTools(config, wanted, log)
  const missing = needs.filter((need) => (need === 'docker' ? !docker : !usable.includes(nameOf(need))))
  const machine: Machine = {
    name: 'this machine',
    kind: 'machine',
    able: missing.length === 0,
    missing,
    tools,
  }
  return {
    checks: [
      { part: 'workflow', status: 'ok', message: `${resolved.root.kind} ${resolved.root.name}` },
      ...paramChecks([
        ...checkParams(resolved, params),
        ...(mismatch === undefined ? [] : [{ path: '/target', message: mismatch }]),
      ]),
      machineCheck([machine]),
    ],
    needs,
    machines: [machine],
  }
}

const cell = ({ missing, tools }: Machine, need: string): string => {
  if (missing.includes(need)) return 'missing'
  return tools.find(({ name }) => TOOL + name === need)?.version || 'yes'
}

/** A server with local slots has the name of its machine, like a worker there. */
const titleOf = ({ name, kind }: Machine): string => (kind === 'server' ? `${name} (server)` : name)

/** More machines are only counted. */
const MAX_COLUMNS = 6

const printNeeds = (terminal: Terminal, { needs, machines }: Examined): void => {
  if (needs.length === 0) return printLine(terminal, 'it needs no programs besides a shell')
  const shown = machines.slice(0, MAX_COLUMNS)
  const having = (need: string): number => machines.filter(({ missing }) => !missing.includes(need)).length
  printTable(
    terminal,
    [
      { title: 'NEEDS', value: nameOf },
      { title: 'ON', value: (need) => `${having(need)} of ${machines.length}` },
      ...shown.map((machine) => ({ title: titleOf(machine), value: (need: string) => cell(machine, need) })),
    ],
    needs,
  )
}

/** Checks whether a workflow can run: on the farm, or on this machine if no server answers. */
export const examineFlow = async (terminal: Terminal, options: FlowOptions): Promise<void> => {
  const { config } = loadSettings(terminal, options.config, { 'client.url': options.url })
  const name = options.flow ?? options.module ?? ''
  let examined: Examined
  try {
    examined = await byServer(terminal, options, name)
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error
    const message = `${errorText(error).split('\n')[0] ?? ''}; this machine is checked instead, for "scanfarm exec"`
    const local = await byMachine(terminal, config, options, name)
    examined = { ...local, checks: [{ part: 'master', status: 'warning', message }, ...local.checks] }
  }
  const { checks } = examined
  printAnswer(terminal, options, examined, () => {
    printChecks(terminal, checks)
    printLine(terminal, '')
    printNeeds(terminal, examined)
  })
  const failed = new Set(failedParts(checks))
  if (failed.size > 0) throw new CliError(EXIT.failed, `"${name}" cannot run: ${[...failed].join(', ')}`)
}
