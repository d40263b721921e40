import { buildProgram } from '@scanfarm/cli'

/** Every command with what it does, in one table; its options are in its help. */
export const commandReference = async (): Promise<string> => {
  const program = await buildProgram({ env: {}, out: process.stdout, err: process.stderr })
  const rows: string[] = []
  const visit = (command: typeof program, path: string): void => {
    const args = command.registeredArguments
      .map((argument) => ` ${argument.required ? `<${argument.name()}>` : `[${argument.name()}]`}`)
      .join('')
    const description = command.description().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
    rows.push(`| \`${path}${args}\` | ${description} |`)
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  for (const command of program.commands) visit(command, `scanfarm ${command.name()}`)
  return ['| command | what it does |', '| --- | --- |', ...rows].join('\n')
}
