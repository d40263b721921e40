import type { FunctionContext, Call } from '../define.ts'
import type { DatabaseService } from '../services.ts'

export const NO_DATABASE = 'this function needs the database of a server; this run has none'

/** Throws if the run has no database. */
export const databaseOf = ({ services }: FunctionContext): DatabaseService => {
  if (services.database !== undefined) return services.database
  throw new Error(NO_DATABASE)
}

/** `""` means the run's own workspace. */
export const workspaceArg = (at: Call, index: number): string => at.text(index) || at.workspace
