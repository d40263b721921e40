import type Docker from 'dockerode'
import type { Container } from 'dockerode'
import { RunnerUnavailableError, type Outcome } from '@scanfarm/contracts'
import type { StopOptions } from '../interruption.ts'
import { commandMarker } from '../marker.ts'
import { ControlSession } from '../shell/control-session.ts'
import type { CommandTarget } from '../shell/run-in-session.ts'
import { SessionPool } from '../shell/session-pool.ts'
import { ShellCommands } from '../shell/shell-commands.ts'
import { startFolder } from '../run-folders.ts'
import { containerOptions, type ContainerPlan } from './container-plan.ts'
import { DockerChannel } from './docker-channel.ts'
import { answer, engineMessage, statusOf } from './engine.ts'
import { packLinks } from './volumes.ts'

/** Concurrent shells in one container; further commands wait. */
const MOST_SESSIONS = 64
const HIJACK = { stdin: true, stdout: true, stderr: true, hijack: true, stream: true } as const

/** The container in which commands of a run execute. Closing it removes it with all its processes. */
export class RunContainer implements CommandTarget, AsyncDisposable {
  readonly docker: Container
  readonly commands: ShellCommands
  readonly cwd: string
  readonly stop: Required<StopOptions>
  readonly #control: ControlSession
  readonly #attempt: string
  readonly #memoryBytes: number
  #oomKills = 0

  constructor(
    container: Container,
    plan: ContainerPlan,
    stop: Required<StopOptions>,
    control: ControlSession,
  ) {
    this.docker = container
    this.#control = control
    this.#attempt = plan.context.marker
    this.cwd = plan.spec.workdir ?? startFolder(plan.context)
    this.stop = stop
    this.#memoryBytes = plan.limits.memoryBytes
    this.commands = new ShellCommands(this, new SessionPool(() => openShell(container), MOST_SESSIONS))
  }

  /** Rejects with the engine's error if the container cannot be created or started. */
  static async start(
    docker: Docker,
    plan: ContainerPlan,
    stop: Required<StopOptions>,
  ): Promise<RunContainer> {
    const abortSignal = plan.context.signal
    const container = await answer(docker.createContainer({ ...containerOptions(plan), abortSignal }))
    try {
      await createLinks(container, plan)
      const socket = await answer(container.attach({ ...HIJACK, abortSignal }))
      await answer(container.start({ abortSignal }))
      const control = new ControlSession(new DockerChannel(socket))
      await control.ready()
      return new RunContainer(container, plan, stop, control)
    } catch (error) {
      await remove(container)
      throw error
    }
  }

  async nextMarker(number: number): Promise<string> {
    return commandMarker(this.#attempt, number)
  }

  kill(marker: string, leader: number, stop: Required<StopOptions>): Promise<number[]> {
    return this.#control.kill(marker, leader, stop)
  }

  async explainLoss(): Promise<Outcome> {
    try {
      const { State: state } = await answer(this.docker.inspect())
      if (!state.Running) return { kind: 'lost', reason: `the container ended with code ${state.ExitCode}` }
      return { kind: 'lost', reason: 'the shell in the container that ran the command has ended' }
    } catch (error) {
      const gone = statusOf(error) === 404
      return {
        kind: 'lost',
        reason: gone ? 'the container is gone' : `the docker engine is gone: ${engineMessage(error)}`,
      }
    }
  }

  explainKill(oomKills: number): string | undefined {
    const more = oomKills > this.#oomKills
    this.#oomKills = oomKills
    return more
      ? `out of memory: the container may use ${Math.floor(this.#memoryBytes / 2 ** 20)} MiB`
      : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.commands[Symbol.asyncDispose]()
    await remove(this.docker)
    this.#control.close()
    await this.#control.gone
  }
}

async function createLinks(container: Container, { volumes, mountsFolder }: ContainerPlan): Promise<void> {
  const { links } = volumes
  if (links.length === 0) return
  try {
    await answer(container.putArchive(packLinks(links, mountsFolder), { path: '/' }))
  } catch (error) {
    const targets = links.map(({ target }) => target).join(' and ')
    throw new Error(
      `no link can be placed at ${targets}: ${engineMessage(error)} (choose another target if the image declares a VOLUME there)`,
    )
  }
}

async function openShell(container: Container): Promise<DockerChannel> {
  try {
    const exec = await container.exec({
      Cmd: ['/bin/sh'],
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    })
    return new DockerChannel(await exec.start({ hijack: true, stdin: true }))
  } catch (error) {
    throw new Error(`cannot open a shell in the container: ${engineMessage(error)}`, { cause: error })
  }
}

/** The engine may already be removing it; a sweep removes what cannot be removed now. */
async function remove(container: Container): Promise<void> {
  try {
    await answer(container.remove({ force: true, v: true }))
  } catch (error) {
    if (statusOf(error) === 409) await answer(container.wait({ condition: 'removed' })).catch(() => {})
  }
}

/** The engine's error about a container that cannot start, with advice. */
export function explainStart(error: unknown, image: string): RunnerUnavailableError {
  const message = engineMessage(error)
  const noShell = /exec.*\/bin\/sh/.test(message)
  return new RunnerUnavailableError(
    noShell
      ? `the image ${image} has no /bin/sh, which commands need: use an image with a shell`
      : `cannot start a container from the image ${image}: ${message}`,
    { cause: error },
  )
}
