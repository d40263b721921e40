import { access, constants } from 'node:fs/promises'
import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import {
  demandIsolation,
  describeIsolation,
  openRunners,
  openSecrets,
  openUsers,
  ToolVersions,
  usableTools,
  workFolderOf,
  toolFolders,
} from '@scanfarm/worker'
import type { WorkerTool } from '@scanfarm/contracts'
import { makeDataDir, openServices } from '@scanfarm/embedded'
import { errorText, type Logger } from '@scanfarm/platform'
import { detectCapabilities, engineAddress, mayAnswer, tryContainer } from '@scanfarm/runners'
import { openRunQueue } from '@scanfarm/queue'
import { migrate, openStore, schemaVersion } from '@scanfarm/store'
import { openLibrary } from '@scanfarm/engine'
import { checkFolders, checkHome, checkVariables, type CheckResult } from './diagnose-tools.ts'
import type { Config } from '../settings.ts'

/** Programs that shipped workflows use if they are installed. */
const TOOLS = ['bash', 'curl', 'openssl', 'nmap', 'ssh']

const checked = async (part: string, check: () => Promise<string>): Promise<CheckResult> => {
  try {
    return { part, status: 'ok', message: await check() }
  } catch (error) {
    return { part, status: 'failed', message: errorText(error) }
  }
}

const checkDataDir = (config: Config): Promise<CheckResult> =>
  checked('data folder', async () => {
    const folder = await makeDataDir(config.dataDir)
    await access(folder, constants.W_OK)
    return folder
  })

const checkArtifacts = (config: Config): Promise<CheckResult> =>
  checked('artifact store', async () => {
    const options = artifactOptions(config.artifacts)
    await using artifacts = openArtifactStore(options)
    await artifacts.check()
    return options.kind === 's3' ? `bucket ${options.bucket}` : options.folder
  })

/** The queue check needs the farm id, which is in the database. */
const checkData = async (config: Config, log: Logger): Promise<CheckResult[]> => {
  const results: CheckResult[] = []
  await using scope = new AsyncDisposableStack()
  const database = await checked('database', async () => {
    const services = scope.use(await openServices({ config, need: { queue: config.server.master }, log }))
    await migrate({ url: services.databaseUrl, connections: config.database.poolServer })
    const store = scope.use(
      await openStore({ url: services.databaseUrl, poolSize: 1, applicationName: 'scanfarm doctor' }),
    )
    await store.check()
    const farmId = await store.farmId()
    if (services.queue) results.push(await checkQueue(services.queue, farmId, log, services.describe[1]))
    return `${services.describe[0]}, schema ${schemaVersion}`
  })
  return [database, ...results]
}

const checkQueue = (
  backend: Parameters<typeof openRunQueue>[0],
  farmId: string,
  log: Logger,
  description = '',
): Promise<CheckResult> =>
  checked('queue', async () => {
    await using queue = await openRunQueue(backend, { farmId, role: 'master', log })
    await queue.check()
    return description
  })

const searched = (config: Config): string => `${toolFolders(config).binaries}:${config.runner.path}`

/** Which of the tools commands of runs can execute, and the versions that are known. */
export const machineTools = async (
  config: Config,
  names: readonly string[],
  log: Logger,
): Promise<{
  readonly usable: readonly string[]
  readonly tools: readonly WorkerTool[]
  readonly docker: boolean
}> => {
  await using runners = openRunners(config, 'doctor')
  const users = openUsers(demandIsolation(config), config.worker.folder, (user, areOurs) =>
    runners.endUser(user, areOurs),
  )
  const search = { runners, users, workFolder: workFolderOf(config), path: searched(config) }
  const usable = await usableTools(search, names)
  const [tools, capabilities] = await Promise.all([
    new ToolVersions({ search, log }).detect(usable),
    detectCapabilities({ tools: [], docker: engineAddress(config.runner), labels: [] }),
  ])
  return { usable, tools, docker: capabilities.includes('docker') }
}

const checkTools = async (config: Config, log: Logger): Promise<CheckResult> => {
  const found = await machineTools(config, TOOLS, log).catch((error: unknown) => errorText(error))
  if (typeof found === 'string') return { part: 'tools', status: 'failed', message: found }
  const missing = TOOLS.filter((tool) => !found.usable.includes(tool))
  const versions = new Map(found.tools.map(({ name, version }) => [name, version]))
  const shown = TOOLS.map((tool) => [tool, versions.get(tool)].filter(Boolean).join(' '))
  return missing.length === 0
    ? { part: 'tools', status: 'ok', message: shown.join(', ') }
    : {
        part: 'tools',
        status: missing.includes('bash') ? 'failed' : 'warning',
        message: `not on ${searched(config)}: ${missing.join(', ')}; workflows that need them will not run here`,
      }
}

/** An engine may answer and still start no container, so one is started. Without an engine there is nothing to check. */
const checkDocker = async ({ runner }: Config): Promise<CheckResult[]> => {
  const address = engineAddress(runner)
  if (!mayAnswer(address)) return []
  return [await checked('docker', async () => `${await tryContainer(address)} at ${address.engine}`)]
}

/** Commands that can read everything are a warning; commands that cannot run are a failure. */
const checkIsolation = (config: Config): CheckResult => {
  const part = 'isolation'
  try {
    const found = demandIsolation(config)
    const open = openSecrets(config, found)
    const message = [describeIsolation(found), ...open].join('; ')
    return { part, status: 'problem' in found || open.length > 0 ? 'warning' : 'ok', message }
  } catch (error) {
    return { part, status: 'failed', message: errorText(error) }
  }
}

const checkWorkflows = (config: Config): Promise<CheckResult> =>
  checked('workflows', async () => {
    const all = (await openLibrary([...config.workflows.folders])).list()
    const broken = all.filter(({ workflow }) => workflow === undefined)
    if (broken.length > 0)
      throw new Error(
        `broken: ${broken.map(({ path }) => path).join(', ')}; run \`scanfarm workflow lint\` for the reasons`,
      )
    return `${all.length} in ${config.workflows.folders.join(', ')}, in addition to the shipped ones`
  })

/** Checks everything that a server with these settings needs. Never rejects: problems are results. */
export const diagnose = async (config: Config, log: Logger): Promise<CheckResult[]> => {
  const parts = await Promise.all([
    checkDataDir(config),
    checkArtifacts(config),
    checkTools(config, log),
    checkWorkflows(config),
    checkFolders(config),
  ])
  return [
    ...parts,
    checkHome(config),
    checkVariables(config),
    checkIsolation(config),
    ...(await checkDocker(config)),
    ...(await checkData(config, log)),
  ]
}
