import { access, constants } from 'node:fs/promises'
import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import {
  demandIsolation,
  describeIsolation,
  openRunners,
  openSecrets,
  openUsers,
  usableTools,
  workFolderOf,
} from '@scanfarm/executor'
import { errorText, makeDataDir, openServices, type Config, type Logger } from '@scanfarm/platform'
import { openRunQueue } from '@scanfarm/queue'
import { migrate, openStore, schemaVersion } from '@scanfarm/store'
import { openLibrary } from '@scanfarm/workflow'
import { checkFolders, checkHome, checkVariables } from './diagnose-tools.ts'

/** One thing that a farm needs, and whether it is there. */
export interface Finding {
  readonly part: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
}

/** Programs that shipped workflows make use of where they are there. */
const TOOLS = ['bash', 'curl', 'openssl', 'nmap', 'ssh']

const checked = async (part: string, check: () => Promise<string>): Promise<Finding> => {
  try {
    return { part, status: 'ok', message: await check() }
  } catch (error) {
    return { part, status: 'failed', message: errorText(error) }
  }
}

const checkDataDir = (config: Config): Promise<Finding> =>
  checked('data folder', async () => {
    const folder = await makeDataDir(config.dataDir)
    await access(folder, constants.W_OK)
    return folder
  })

const checkArtifacts = (config: Config): Promise<Finding> =>
  checked('artifact store', async () => {
    await using artifacts = openArtifactStore(artifactOptions(config.artifacts))
    await artifacts.check()
    return artifacts.kind === 's3' ? `bucket ${config.artifacts.s3.bucket}` : config.artifacts.folder
  })

/** The queue carries the farm's id, which lives in the database: without that there is nothing to say of it. */
const checkData = async (config: Config, log: Logger): Promise<Finding[]> => {
  const findings: Finding[] = []
  await using scope = new AsyncDisposableStack()
  const database = await checked('database', async () => {
    const services = scope.use(await openServices({ config, need: { queue: config.server.master }, log }))
    await migrate({ url: services.databaseUrl })
    const store = scope.use(
      await openStore({ url: services.databaseUrl, poolSize: 1, applicationName: 'scanfarm doctor' }),
    )
    await store.check()
    const farmId = await store.farmId()
    if (services.queue) findings.push(await checkQueue(services.queue, farmId, log, services.describe[1]))
    return `${services.describe[0]}, schema ${schemaVersion}`
  })
  return [database, ...findings]
}

const checkQueue = (
  backend: Parameters<typeof openRunQueue>[0],
  farmId: string,
  log: Logger,
  description = '',
): Promise<Finding> =>
  checked('queue', async () => {
    await using queue = await openRunQueue(backend, { farmId, role: 'master', log })
    await queue.check()
    return description
  })

const searched = ({ folders, runner }: Config): string => `${folders.binaries}:${runner.path}`

/** As commands of runs would find them. */
const toolsFound = async (config: Config): Promise<string[]> => {
  await using runners = openRunners(config, 'doctor')
  const users = openUsers(demandIsolation(config), config.worker.folder, (user) => runners.endUser(user))
  const places = { runners, users, workFolder: workFolderOf(config), path: searched(config) }
  return await usableTools(places, TOOLS)
}

const checkTools = async (config: Config): Promise<Finding> => {
  const found = await toolsFound(config).catch((error: unknown) => errorText(error))
  if (typeof found === 'string') return { part: 'tools', status: 'failed', message: found }
  const missing = TOOLS.filter((tool) => !found.includes(tool))
  return missing.length === 0
    ? { part: 'tools', status: 'ok', message: TOOLS.join(', ') }
    : {
        part: 'tools',
        status: missing.includes('bash') ? 'failed' : 'warning',
        message: `not on ${searched(config)}: ${missing.join(', ')}; workflows that need them will not run here`,
      }
}

/** Commands that could read everything are a danger; commands that could not run are an error. */
const checkIsolation = (config: Config): Finding => {
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

const checkWorkflows = (config: Config): Promise<Finding> =>
  checked('workflows', async () => {
    const all = (await openLibrary([...config.workflows.folders])).list()
    const broken = all.filter(({ workflow }) => workflow === undefined)
    if (broken.length > 0)
      throw new Error(
        `broken: ${broken.map(({ path }) => path).join(', ')}; \`scanfarm workflow lint\` says why`,
      )
    return `${all.length} in ${config.workflows.folders.join(', ')}, besides the shipped ones`
  })

/** Looks at everything that a server of these settings needs. Never rejects: what is wrong is a finding. */
export const diagnose = async (config: Config, log: Logger): Promise<Finding[]> => {
  const parts = await Promise.all([
    checkDataDir(config),
    checkArtifacts(config),
    checkTools(config),
    checkWorkflows(config),
    checkFolders(config),
  ])
  return [
    ...parts,
    checkHome(config),
    checkVariables(config),
    checkIsolation(config),
    ...(await checkData(config, log)),
  ]
}
