import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../packages/cli/package.json' with { type: 'json' }

/** The file with the helps of all commands, beside the code of the program. */
export const HELPS = 'helps.json'

/** The answer to arguments that need no command: the version, or a help that was stored in `folder`. */
export const storedAnswer = (
  args: readonly string[],
  folder: () => string | undefined,
): string | undefined => {
  const option = args.at(-1) ?? ''
  const words = args.slice(0, -1)
  const isVersion = words.length === 0 && /^(?:--version|-V)$/.test(option)
  if (!isVersion && !/^(?:--help|-h)$/.test(option)) return undefined
  if (words.some((word) => word.includes(' '))) return undefined
  const found = folder()
  if (found === undefined) return undefined
  if (isVersion) return `${packageJson.version}\n`
  const path = words.join(' ')
  try {
    const helps = JSON.parse(readFileSync(join(found, HELPS), 'utf8')) as Record<string, string>
    return Object.hasOwn(helps, path) ? helps[path] : undefined
  } catch {
    return undefined
  }
}
