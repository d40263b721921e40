import { buildProgram } from '@scanfarm/cli'

const WIDTH = 100

/** The output of `--help` of every command, for a terminal of a fixed width. */
export const commandReference = async (): Promise<string> => {
  const program = await buildProgram({ env: {}, out: process.stdout, err: process.stderr })
  const parts: string[] = []
  const visit = (command: typeof program, path: string): void => {
    const text = command.configureHelp({ helpWidth: WIDTH }).helpInformation().trimEnd()
    parts.push(`### ${path}\n\n\`\`\`text\n${text}\n\`\`\``)
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  for (const command of program.commands) visit(command, `scanfarm ${command.name()}`)
  return parts.join('\n\n')
}
