import type { ChildProcess } from 'node:child_process'
import type { Launched, Launcher, LaunchRequest, ProcessEnd, User } from './launcher.ts'
import { killAllOf, purgeUser } from './purge.ts'
import { pidOf, startProcess } from './start-process.ts'
import { codeOf, messageOf } from '../error-facts.ts'

/**
 * Starts processes from this very process. Right for small programs that run one workflow; a program that grows starts
 * processes ever more slowly, and its SIGKILL leaves them running.
 */
export class DirectLauncher implements Launcher {
  async launch(request: LaunchRequest): Promise<Launched> {
    try {
      const child = await startProcess(request)
      return { kind: 'started', pid: pidOf(child), ended: endedOf(child) }
    } catch (error) {
      return { kind: 'failed', ...describeFailure(error) }
    }
  }

  forget(): void {}

  async purge(user: User): Promise<void> {
    await purgeUser(user, killAllOf)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const endedOf = (child: ChildProcess): Promise<ProcessEnd> =>
  new Promise((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signalled', signal }),
    ),
  )

const describeFailure = (error: unknown): { code: string; message: string } => ({
  code: codeOf(error),
  message: messageOf(error),
})
