import {
  chooseRunner,
  parseSshAddress,
  type RunnerChoice,
  type RunnerSpec,
  type RunnerType,
} from '@scanfarm/contracts'
import { mergeRunnerConfig, type RunnerConfig, type Workflow } from '@scanfarm/language'

/** The runner of a module as its file declares it. Throws an error for the author. */
export const runnerSpec = (type: RunnerType | undefined, config: RunnerConfig = {}): RunnerSpec => {
  if (type === undefined || type === 'host') return { type: 'host' }
  const { image, env, volumes, network, persistent, workdir, host } = config
  if (type === 'docker') {
    if (image === undefined || image === '') throw new Error('the docker runner needs runner_config.image')
    return { type, image, workdir, user: config.user, env, volumes, network, persistent }
  }
  if (host === undefined || host === '') throw new Error('the ssh runner needs runner_config.host')
  const address = parseSshAddress(host)
  return {
    type,
    host: address.host,
    user: address.user ?? config.user,
    port: config.port ?? address.port,
    workdir,
    keyFile: config.key_file,
    password: config.password,
    jump: config.jump,
    knownHosts: config.known_hosts,
    hostKeys: config.host_keys,
  }
}

type RunnerSettings = Pick<Workflow, 'runner' | 'runner_config'>

/**
 * The runner of a module in a flow: its own, else that of the flow. If both have the same type, the settings of the
 * module override those of the flow.
 */
export const runnerInFlow = (own: RunnerSettings, flow: RunnerSettings): RunnerSettings => {
  const { runner = flow.runner, runner_config: ownConfig } = own
  const inherits = runner === flow.runner && flow.runner_config !== undefined
  const config = inherits ? mergeRunnerConfig(flow.runner_config, ownConfig) : ownConfig
  return { runner, runner_config: config }
}

/**
 * The runner of a module with the caller's choice applied, which may complete the settings of the file or replace its
 * type. Throws an error for the caller if a setting is missing; there is no fallback to another runner.
 */
export const moduleRunner = (
  { runner, runner_config: config }: RunnerSettings,
  asked: RunnerChoice,
): RunnerSpec => {
  const type = runner ?? asked?.type
  if (asked !== null && asked.type !== type) return chooseRunner({ type: 'host' }, asked)
  const { dockerImage, sshHost } = asked ?? {}
  const own = runnerSpec(type, {
    ...config,
    image: dockerImage ?? config?.image,
    host: config?.host ?? sshHost,
  })
  return chooseRunner(own, asked)
}
