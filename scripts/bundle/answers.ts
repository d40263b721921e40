import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../packages/cli/package.json' with { type: 'json' }

/** The file with the list of commands, beside the code of the program. */
export const HELP = 'help.txt'

/** The answer to arguments that need no command: the version, or the list of commands that was stored in `folder`. */
export const storedAnswer = (
  args: readonly string[],
  folder: () => string | undefined,
): string | undefined => {
  const [option = '', ...more] = args
  if (more.length > 0 || !/^(?:--version|-V|--help|-h)$/.test(option)) return undefined
  const found = folder()
  if (found === undefined) return undefined
  if (/V|version/.test(option)) return `${packageJson.version}\n`
  try {
    return readFileSync(join(found, HELP), 'utf8') || undefined
  } catch {
    return undefined
  }
}
