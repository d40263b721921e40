import type { RunnerSpec, RunnerType } from '@scanfarm/contracts'
import type { RunnerConfig } from '../model.ts'

/** `user@host:port` taken apart. */
const sshHost = (text: string): { host: string; user?: string; port?: number } => {
  const [, user, host = '', port] =
    /^(?:([^@]+)@)?(\[[^\]]+\]|[^:]+|[^:]*:[^:]*:.*?)(?::(\d+))?$/.exec(text) ?? []
  return {
    host: host.replaceAll(/^\[|\]$/g, ''),
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
  }
}

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
  const { host, port, key_file: keyFile, password } = config
  if (host === undefined || host === '') throw new Error('the ssh runner needs runner_config.host')
  return {
    type,
    ...common,
    ...sshHost(host),
    ...(port === undefined ? {} : { port }),
    ...(keyFile === undefined ? {} : { keyFile }),
    ...(password === undefined ? {} : { password }),
  }
}
