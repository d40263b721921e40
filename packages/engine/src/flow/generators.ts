import type { Ports } from '@scanfarm/functions'
import { type GENERATOR_NAMES, dated } from '@scanfarm/language'
import { randomText } from './builtins.ts'

/** Arguments of `fn("a", 'b', c)`: quoted texts and bare words. */
const argumentsOf = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,\s][^,]*)/g)].map(
    ([, double, single, bare]) => double ?? single ?? (bare ?? '').trim(),
  )

interface Environment {
  readonly ports: Ports
  readonly env: Readonly<Record<string, string>>
  exec(command: string): Promise<string>
}

type Generator = (args: string[], around: Environment) => string | Promise<string>

const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Maximum length for `randomString`. */
const MAX_RANDOM = 4096

const GENERATORS: Readonly<Record<(typeof GENERATOR_NAMES)[number], Generator>> = {
  uuid: (_args, { ports }) => ports.uuid(),
  currentDate: ([layout = '2006-01-02'], { ports }) => dated(ports.now(), layout),
  currentTimestamp: (_args, { ports }) => String(Math.trunc(ports.now().getTime() / 1000)),
  getEnvVar: ([key = '', fallback = ''], { env }) => env[key] ?? fallback,
  concat: (args) => args.join(''),
  randomInt: ([min = '0', max = '100'], { ports }) =>
    String(Number(min) + Math.floor(ports.random() * (Number(max) - Number(min) + 1))),
  randomString: ([length = '16'], { ports }) =>
    randomText(Math.min(MAX_RANDOM, Number(length) || 0), ports, ALPHANUMERIC),
  execCmd: async ([command = ''], { exec }) => await exec(command),
  toLower: ([text = '']) => text.toLowerCase(),
  toUpper: ([text = '']) => text.toUpperCase(),
  trim: ([text = '']) => text.trim(),
  replace: ([text = '', from = '', to = '']) => text.replaceAll(from, () => to),
  split: ([text = '', delimiter = ',', index = '0']) => text.split(delimiter)[Number(index)] ?? '',
  join: ([delimiter = '', ...parts]) => parts.join(delimiter),
}

/** The value of a param's `generator`. Throws an error for the author. */
export const generate = async (source: string, around: Environment): Promise<string> => {
  const [, name = '', args = ''] = /^\s*(\w+)\s*\((.*)\)\s*$/s.exec(source) ?? []
  const [, generator] = Object.entries(GENERATORS).find(([known]) => known === name) ?? []
  if (generator === undefined) throw new Error(`unknown generator "${source}"`)
  return await generator(argumentsOf(args), around)
}
