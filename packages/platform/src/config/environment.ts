import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'

/** Root keeps its data outside of `/root`, which is closed to the unprivileged user that embedded services run as. */
export const defaultDataDir = (env: NodeJS.ProcessEnv = process.env): string => {
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, 'scanfarm')
  return userInfo().uid === 0 ? '/var/lib/scanfarm' : join(homedir(), '.scanfarm')
}

/** The folders in which programs of the machine are looked up. */
export const searchPath = (env: NodeJS.ProcessEnv = process.env): string => env.PATH ?? ''

/** A variable that other programs define too, like GOOGLE_APPLICATION_CREDENTIALS. Undefined if it is empty. */
export const foreignVariable = (name: string, env: NodeJS.ProcessEnv = process.env): string | undefined =>
  env[name] || undefined
