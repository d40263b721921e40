import {
  chooseRunner,
  parseSshAddress,
  type RunnerChoice,
  type RunnerSpec,
  type RunnerType,
  type SshAddress,
} from '@scanfarm/contracts'
import { mergeRunnerConfig, type RunnerConfig, type Workflow } from '@scanfarm/language'

/** The runner of a module as its file declares it. Throws an error for the author. */
export const runnerSpec = (type: RunnerType | undefined, config: RunnerConfig = {}): RunnerSpec => {
  if (type === undefined || type === 'host') return { type: 'host' }
  const { workdir, user } = config
  const common = { ...(workdir === undefined ? {} : { workdir }), ...(user === undefined ? {} : { user }) }
  if (type === 'docker') {
    const { image, env, volumes, network, persistent } = config
    if (image === undefined || image === '') throw new Error('the docker runner needs runner_config.image')
    return {
      type,
      image,
      ...common,
      ...(env === undefined ? {} : { env }),
      ...(volumes === undefined ? {} : { volumes }),
      ...(network === undefined ? {} : { network }),
      ...(persistent === undefined ? {} : { persistent }),
    }
  }
  const {
    host,
    port,
    key_file: keyFile,
    password,
    jump,
    known_hosts: knownHosts,
    host_keys: hostKeys,
  } = config
  if (host === undefined || host === '') throw new Error('the ssh runner needs runner_config.host')
  return {
    type,
    ...common,
    ...addressParts(host),
    ...(port === undefined ? {} : { port }),
    ...(keyFile === undefined ? {} : { keyFile }),
    ...(password === undefined ? {} : { password }),
    ...(jump === undefined ? {} : { jump }),
    ...(knownHosts === undefined ? {} : { knownHosts }),
    ...(hostKeys === undefined ? {} : { hostKeys }),
  }
}

const addressParts = (text: string): SshAddress => {
  const { host, user, port } = parseSshAddress(text)
  return { host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port }) }
}

type Placed = Pick<Workflow, 'runner' | 'runner_config'>

/**
 * The runner of a module in a flow: its own, else that of the flow. If both have the same type, the settings of the
 * module override those of the flow.
 */
export const runnerInFlow = (own: Placed, flow: Placed): Placed => {
  const { runner = flow.runner, runner_config: ownConfig } = own
  const inherits = runner === flow.runner && flow.runner_config !== undefined
  const config = inherits ? mergeRunnerConfig(flow.runner_config, ownConfig) : ownConfig
  return {
    ...(runner === undefined ? {} : { runner }),
    ...(config === undefined ? {} : { runner_config: config }),
  }
}

/**
 * The runner of a module with the caller's choice applied, which may complete the settings of the file or replace its
 * type. Throws an error for the caller if a setting is missing; there is no fallback to another runner.
 */
export const moduleRunner = ({ runner, runner_config: config }: Placed, asked: RunnerChoice): RunnerSpec => {
  const type = runner ?? asked?.type
  if (asked !== null && asked.type !== type) return chooseRunner({ type: 'host' }, asked)
  const { dockerImage, sshHost } = asked ?? {}
  const own = runnerSpec(type, {
    ...config,
    ...(dockerImage === undefined ? {} : { image: dockerImage }),
    ...(sshHost === undefined ? {} : { host: config?.host ?? sshHost }),
  })
  return chooseRunner(own, asked)
}
