import { NoResult, type FunctionContext } from '../define.ts'

/** Runs a program; throws `NoResult` if it fails. */
export const must = async (
  context: FunctionContext,
  argv: readonly string[],
  cwd?: string,
): Promise<string> => {
  const { exitCode, stdout, stderr, problem } = await context.exec(argv, cwd === undefined ? {} : { cwd })
  if (exitCode === 0) return stdout
  const reason = stderr.trim() || problem || `exit code ${exitCode}`
  throw new NoResult(`${argv[0] ?? ''}: ${reason.slice(0, 500)}`)
}
