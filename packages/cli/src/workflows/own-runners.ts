import type { RunnerProvider } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'
import { createRunners, dockerOptions } from '@scanfarm/runners'

const ALL = ['*']

/**
 * Runners for one run of a person: commands on this machine run as that person, and ssh hosts are reached with that
 * person's agent. What workers may use is no limit here.
 */
export const createOwnRunners = ({ runner, runs }: Config, agent: string | undefined): RunnerProvider => {
  const graceMs = runs.cancelGraceMs
  return createRunners({
    host: { graceMs },
    docker: {
      ...dockerOptions({ ...runner, dockerImages: ALL, dockerVolumes: ALL, dockerNetworks: ALL }),
      owner: `exec-${process.pid}`,
      graceMs,
    },
    ssh: { graceMs, keyFile: runner.sshKeyFile, knownHosts: runner.sshKnownHosts, agent },
  })
}
