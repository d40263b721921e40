import type { Container } from 'dockerode'
import type { Owner } from '@scanfarm/contracts'
import { answer } from './engine.ts'
import { DockerChannel } from './docker-channel.ts'

/** The user of this program, unless it is root and can use all files anyway. */
export const defaultFileOwner = (): Owner | undefined => {
  const [uid = 0, gid = 0] = [process.geteuid?.(), process.getegid?.()]
  return uid === 0 ? undefined : { uid, gid }
}

const MOST_STDERR = 500
/** `chown` of millions of files takes a while. */
const CHOWN_MS = 300_000

/**
 * Changes the owner of the folders and all their content, as root of the container. Rejects if the image has no
 * `chown` or the container has ended.
 */
export async function changeOwner(
  container: Container,
  folders: readonly string[],
  { uid, gid }: Owner,
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
    const output = await answer(readOutput(channel), CHOWN_MS)
    const { ExitCode: code } = await answer(exec.inspect())
    if (code !== 0) throw new Error(output.trim() || `chown ended with code ${code}`)
  } finally {
    channel.close()
  }
}

async function readOutput(channel: DockerChannel): Promise<string> {
  let output = ''
  for await (const { bytes } of channel.chunks) output = (output + bytes.toString()).slice(0, MOST_STDERR)
  return output
}
