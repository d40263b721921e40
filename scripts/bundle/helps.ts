// Prints the help of the program and of each of its commands, by the words that name it.
import { buildProgram } from '../../packages/cli/src/index.ts'

const helps: Record<string, string> = {}
let text = ''
const visit = (command: Awaited<ReturnType<typeof buildProgram>>, path: string): void => {
  text = ''
  command.outputHelp()
  helps[path] = text
  for (const child of command.commands) visit(child, `${path} ${child.name()}`.trim())
}
const out = Object.assign(Object.create(process.stdout) as typeof process.stdout, {
  write: (part: string) => {
    text += part
    return true
  },
})
visit(await buildProgram({ env: {}, out, err: out }), '')
process.stdout.write(JSON.stringify(helps))
