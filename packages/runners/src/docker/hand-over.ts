import { sep } from 'node:path'
import type { Container } from 'dockerode'
import { answer, engineMessage } from './engine.ts'
import { DockerChannel } from './docker-channel.ts'

/** Who is to own what commands made in mounted folders. */
export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/** The user of this program, unless it may touch everybody's files anyway. */
export const ownFiles = (): FileOwner | undefined => {
  const [uid = 0, gid = 0] = [process.geteuid?.(), process.getegid?.()]
  return uid === 0 ? undefined : { uid, gid }
}

/** Where a volume lies in the folders, their content is not all the run's own. */
export const holdsVolume = (folders: readonly string[], volumes: readonly string[]): boolean =>
  volumes.some((volume) => {
    const [source = '', target = source] = volume.split(':')
    return folders.some((folder) => `${target}${sep}`.startsWith(`${folder}${sep}`))
  })

const MOST_COMPLAINT = 500
/** A tree of millions of files takes a while. */
const HAND_OVER_MS = 300_000

/**
 * Gives the folders and all in them to the owner, as root of the container, who is mostly the one that made them.
 * Rejects when the image has no `chown` or the container is gone.
 */
export async function handOver(
  container: Container,
  folders: readonly string[],
  { uid, gid }: FileOwner,
): Promise<void> {
  const exec = await answer(
    container.exec({
      Cmd: ['chown', '-hR', `${uid}:${gid}`, ...folders],
      User: '0:0',
      AttachStdout: true,
      AttachStderr: true,
    }),
  )
  const channel = new DockerChannel(await answer(exec.start({ hijack: true, stdin: false })))
  try {
    const said = await answer(complaintsOf(channel), HAND_OVER_MS)
    const { ExitCode: code } = await answer(exec.inspect())
    if (code !== 0) throw new Error(said.trim() || `chown ended with code ${code}`)
  } catch (error) {
    throw new Error(
      `files made in the container could not be given to user ${uid}: ${engineMessage(error)}`,
      {
        cause: error,
      },
    )
  } finally {
    channel.close()
  }
}

async function complaintsOf(channel: DockerChannel): Promise<string> {
  let said = ''
  for await (const { bytes } of channel.pieces) said = (said + bytes.toString()).slice(0, MOST_COMPLAINT)
  return said
}
