import type { Json } from '../model.ts'
import { textArg, type FunctionContext } from './define.ts'
import type { DatabaseService } from './services.ts'

export const NO_DATABASE = 'this function needs the database of a server, and this run has none'

/** Throws when the run has no database. */
export const databaseOf = ({ services }: FunctionContext): DatabaseService => {
  if (services.database !== undefined) return services.database
  throw new Error(NO_DATABASE)
}

/** `""` means the run's own workspace. */
export const workspaceArg = (args: readonly Json[], index: number, { workspace }: FunctionContext): string =>
  textArg(args, index) || workspace
