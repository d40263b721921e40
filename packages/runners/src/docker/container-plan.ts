import type { ContainerCreateOptions, MountSettings } from 'dockerode'
import type { RunnerContext, RunnerSpec, Owner } from '@scanfarm/contracts'
import { foldersOf } from '../run-folders.ts'
import { readOnlyFolders, type Volumes } from './volumes.ts'

export type DockerSpec = Extract<RunnerSpec, { type: 'docker' }>

/** Limits of one container. */
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
  readonly volumes: Volumes
  readonly owner: string
  readonly limits: ContainerLimits
  readonly cpusOfEngine: number
  /** The user who becomes the owner of files in mounted folders; missing: owners stay as they are. */
  readonly fileOwner: Owner | undefined
  /** Whether the run's folder is mounted, at the same path as on this machine. */
  readonly mountsFolder: boolean
}

const NANO = 1e9

const bind = (source: string, target: string, readOnly = false): MountSettings => ({
  Type: 'bind',
  Source: source,
  Target: target,
  ReadOnly: readOnly,
})

/**
 * The container's main process is a shell that reads from this program and ends with the connection: when this program
 * ends, for any reason, the container ends and the engine removes it.
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
      Binds: [...plan.volumes.binds],
      Mounts: plan.mountsFolder
        ? [
            ...foldersOf(context).map((folder) => bind(folder, folder)),
            ...[...readOnlyFolders(plan.volumes.links)].map(([target, folder]) => bind(folder, target, true)),
          ]
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
