import type { RunnerContext, RunnerProvider, RunnerSpec } from '@scanfarm/contracts'
import { RunnerUnavailableError } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'
import { createDockerRunners, createHostRunners } from '@scanfarm/runners'

/** Runners for one run of a person: commands on this machine run as that person. */
export const createOwnRunners = (config: Config): RunnerProvider => {
  const graceMs = config.runs.cancelGraceMs
  const host = createHostRunners({ graceMs, spawner: false })
  const docker = createDockerRunners({
    engine: config.runner.dockerSocket,
    owner: `exec-${process.pid}`,
    graceMs,
  })
  return {
    open(spec: RunnerSpec, context: RunnerContext) {
      switch (spec.type) {
        case 'host':
          return host.open(spec, context)
        case 'docker':
          return docker.open(spec, context)
        default:
          throw new RunnerUnavailableError('`scanfarm exec` runs commands on this machine and in docker only')
      }
    },
    async [Symbol.asyncDispose]() {
      await docker[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    },
  }
}
