import { buildArgv, runCLI } from 'jest'

/** Runs Jest with these arguments in this process; true when every test passed. Prints the counts at the end. */
export const runJest = async (root: string, args: readonly string[]): Promise<boolean> => {
  const { results } = await runCLI(await buildArgv([...args]), [root])
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
  const skipped = results.numPendingTests + results.numTodoTests
  console.log(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`)
  return results.success && failed === 0 && !results.wasInterrupted
}
