import { ConfigError } from '@scanfarm/platform'
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import type { Commands } from './commands/client.ts'
import { commandNamed } from './commands/names.ts'
import { CliError, EXIT } from './exit.ts'
import { refuseRepetitions } from './options.ts'
import type { Terminal } from './terminal.ts'

const EXIT_HELP = `
Exit codes: 0 done; 1 failed, or a run that was waited for did not complete; 2 bad arguments or settings;
3 all runs that were waited for completed, but one of them did not do all of its work; 4 server not reachable;
5 refused by the server; 128 + signal if a second signal stopped it at once.`

/** Subcommands inherit the output of the program, and throw instead of ending the process. */
const inherit = (command: Command, path = command.name()): void => {
  refuseRepetitions(command)
  command.showHelpAfterError(`  see: ${path} --help`)
  for (const child of command.commands)
    inherit(child.copyInheritedSettings(command), `${path} ${child.name()}`)
}

/** Words of other programs for verbs of this one. */
const SAME_VERBS = [
  ['list', 'ls'],
  ['show', 'get', 'describe', 'info', 'inspect', 'view'],
  ['create', 'add', 'new'],
  ['change', 'set', 'edit', 'update', 'modify'],
  ['remove', 'destroy', 'delete', 'del', 'rm'],
  ['cancel', 'stop', 'kill', 'abort'],
  ['trigger', 'start', 'run', 'fire'],
]

const childOf = (command: Command, name: string): Command | undefined =>
  command.commands.find((child) => [child.name(), ...child.aliases()].includes(name))

/** Names the verb that is meant, for a noun that has only another word for it, or whose plural has it: `run steps`. */
const hintAtVerb = async (
  program: Command,
  args: readonly string[],
  terminal: Terminal,
  known: Commands,
): Promise<void> => {
  let noun = program
  for (const [index, word] of args.entries()) {
    const child = childOf(noun, word)
    if (child === undefined) {
      const operands = args.slice(index).filter((one) => !one.startsWith('-')).length
      if (operands <= noun.registeredArguments.length) return
      const verbs = SAME_VERBS.find((same) => same.includes(word)) ?? [word]
      const load = noun.parent === program ? known[`${noun.name()}s`] : undefined
      const nouns = load === undefined ? [noun] : [noun, (await load())(terminal)]
      for (const one of nouns) {
        const meant = verbs.find((verb) => childOf(one, verb))
        const text = one === noun ? meant : `${one.name()} ${meant}`
        if (meant !== undefined) noun.error(`error: unknown command '${word}'\n(Did you mean ${text}?)`)
      }
      return
    }
    noun = child
  }
}

/** With the commands that `args` may mean: the one that is named first, or else all. */
export const buildProgram = async (
  args: readonly string[],
  terminal: Terminal,
  known: Commands,
): Promise<Command> => {
  const name = commandNamed(args[0])
  const named = Object.hasOwn(known, name) ? known[name] : undefined
  const load = named === undefined ? Object.values(known) : [named]
  const commands = await Promise.all(load.map(async (one) => await one()))
  const program = new Command('scanfarm')
    .description('Run security-scan workflows against targets over a farm of machines.')
    .version(packageJson.version)
    .addHelpText('after', EXIT_HELP)
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'scanfarm: ')),
    })
  for (const command of commands) program.addCommand(command(terminal))
  program.exitOverride().enablePositionalOptions()
  inherit(program)
  return program
}

const report = (terminal: Terminal, error: unknown): number => {
  // Help and version end with this error too, with code 0. Their text has been printed.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (error instanceof ConfigError) {
    terminal.err.write(`scanfarm: ${error.message}\n`)
    return EXIT.usage
  }
  if (error instanceof CliError) {
    terminal.err.write(`scanfarm: ${error.message}\n`)
    return error.exitCode
  }
  terminal.err.write(`scanfarm: ${Error.isError(error) ? (error.stack ?? error.message) : String(error)}\n`)
  return EXIT.failed
}

/** Runs one command line (without program names) and returns the exit code. */
export const runProgram = async (
  args: readonly string[],
  terminal: Terminal,
  commands: Commands,
): Promise<number> => {
  try {
    const program = await buildProgram(args, terminal, commands)
    await hintAtVerb(program, args, terminal, commands)
    await program.parseAsync([...args], { from: 'user' })
    return EXIT.done
  } catch (error) {
    return report(terminal, error)
  }
}
