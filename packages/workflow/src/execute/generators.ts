import type { Ports } from './surroundings.ts'
import { dated } from '../date-layout.ts'
import { randomText } from './builtins.ts'

/** Arguments of `fn("a", 'b', c)`: quoted texts and bare words. */
const argumentsOf = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,\s][^,]*)/g)].map(
    ([, double, single, bare]) => double ?? single ?? (bare ?? '').trim(),
  )

interface Surroundings {
  readonly ports: Ports
  readonly env: Readonly<Record<string, string>>
  exec(command: string): Promise<string>
}

type Generator = (args: string[], around: Surroundings) => string | Promise<string>

const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Longest text that `randomString` makes. */
const MAX_RANDOM = 4096

export const GENERATORS: Readonly<Record<string, Generator>> = {
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

/** The value that a param's `generator` makes; throws with a message for the author. */
export const generate = async (source: string, around: Surroundings): Promise<string> => {
  const [, name = '', args = ''] = /^\s*(\w+)\s*\((.*)\)\s*$/s.exec(source) ?? []
  const generator = Object.hasOwn(GENERATORS, name) ? GENERATORS[name] : undefined
  if (generator === undefined) throw new Error(`there is no generator "${source}"`)
  return await generator(argumentsOf(args), around)
}
