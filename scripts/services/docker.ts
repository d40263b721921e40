import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { ensurePrograms, PROGRAMS } from './programs.ts'

const USUAL_ADDRESS = 'unix:///var/run/docker.sock'
const ANSWER_MS = 5_000

/** Whether an engine answers at this address; only Unix sockets are asked. */
export const answers = async (address: string): Promise<boolean> => {
  const socketPath = address.slice('unix://'.length)
  if (!address.startsWith('unix://') || !existsSync(socketPath)) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  request({ socketPath, path: '/_ping', timeout: ANSWER_MS }, (answer) => {
    answer.resume()
    resolve(answer.statusCode === 200)
  })
    .on('error', () => resolve(false))
    .on('timeout', () => resolve(false))
    .end()
  return promise
}

export const isRoot = (): boolean => process.getuid?.() === 0

/**
 * Address of a docker engine that answers: that of DOCKER_HOST, or the usual one. Undefined: there is none, but one can be
 * started here. Throws where neither is so.
 */
export const findDocker = async (): Promise<string | undefined> => {
  for (const address of [process.env.DOCKER_HOST ?? '', USUAL_ADDRESS])
    if (await answers(address)) return address
  if (!isRoot())
    throw new Error(
      'no docker engine answers, and only root can start one: start docker, or set DOCKER_HOST=unix://…',
    )
  ensurePrograms([PROGRAMS.docker])
  return undefined
}
