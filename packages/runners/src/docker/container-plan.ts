import type { ContainerCreateOptions } from 'dockerode'
import type { RunnerContext, RunnerSpec } from '@scanfarm/contracts'
import { foldersOf } from '../run-folders.ts'
import type { FileOwner } from './hand-over.ts'

export type DockerSpec = Extract<RunnerSpec, { type: 'docker' }>

/** Bounds of one container. */
export interface ContainerLimits {
  readonly memoryBytes: number
  readonly cpus: number
  readonly pids: number
}

export const LABEL_OWNER = 'scanfarm.owner'
export const LABEL_RUN = 'scanfarm.run'
export const LABEL_ATTEMPT = 'scanfarm.attempt'

export interface ContainerPlan {
  readonly spec: DockerSpec
  readonly context: RunnerContext
  readonly imageId: string
  readonly owner: string
  readonly limits: ContainerLimits
  readonly cpusOfEngine: number
  /** Who gets what commands made in mounted folders, where that takes doing something. */
  readonly fileOwner: FileOwner | undefined
  /** Whether the run's folder is mounted, at the path that it has on this machine. */
  readonly mountsFolder: boolean
}

const NANO = 1e9

/**
 * The container's first program is a shell that reads from this program and ends when the connection does: whatever
 * ends this program ends the container, and the engine removes it.
 */
export function containerOptions(plan: ContainerPlan): ContainerCreateOptions {
  const { spec, context, limits } = plan
  return {
    Image: plan.imageId,
    Entrypoint: ['/bin/sh'],
    Cmd: [],
    Env: Object.entries(spec.env ?? {}).map(([name, value]) => `${name}=${value}`),
    User: spec.user,
    WorkingDir: '/',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: {
      [LABEL_OWNER]: plan.owner,
      [LABEL_RUN]: context.runUuid,
      [LABEL_ATTEMPT]: String(context.attempt),
    },
    HostConfig: {
      AutoRemove: true,
      Init: true,
      NetworkMode: spec.network,
      Binds: [...(spec.volumes ?? [])],
      Mounts: plan.mountsFolder
        ? foldersOf(context).map((folder) => ({ Type: 'bind', Source: folder, Target: folder }))
        : [],
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.floor(Math.min(limits.cpus, plan.cpusOfEngine) * NANO),
      PidsLimit: limits.pids,
      SecurityOpt: ['no-new-privileges:true'],
      LogConfig: { Type: 'none', Config: {} },
    },
  }
}
