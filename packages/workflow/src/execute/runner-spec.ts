import {
  chooseRunner,
  parseSshAddress,
  type AskedRunner,
  type RunnerSpec,
  type RunnerType,
  type SshAddress,
} from '@scanfarm/contracts'
import type { RunnerConfig, Workflow } from '../model.ts'

/** Where the commands of a module run, as its file says. Throws with a message for the author. */
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

/**
 * The runner of a module with what the caller asked for. A caller may give the image or host that the file leaves out;
 * one who names a kind only means the modules that have the rest, others stay as they are.
 */
export const moduleRunner = (
  { runner, runner_config: config }: Pick<Workflow, 'runner' | 'runner_config'>,
  asked: AskedRunner,
): RunnerSpec => {
  const { type, dockerImage, sshHost } = asked ?? {}
  const given = { docker: dockerImage, ssh: sshHost, host: '' }[type ?? 'host']
  if (type === 'docker' && runner === 'docker' && dockerImage !== undefined)
    return runnerSpec(runner, { ...config, image: dockerImage })
  if (type === 'ssh' && runner === 'ssh' && sshHost !== undefined)
    return chooseRunner(runnerSpec(runner, { ...config, host: config?.host ?? sshHost }), asked)
  const own = runnerSpec(runner, config)
  return given === undefined ? own : chooseRunner(own, asked)
}
