// Writes the generated files and the generated parts of documents; with --check it only reports which are out of date (exit code 1).
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeClientSchema } from './client-schema.ts'
import { FILES, SECTIONS, type Section } from './sections.ts'

const root = join(import.meta.dirname, '../..')
const END = '<!-- /generated -->'

const replaceSection = (text: string, { file, mark }: Section, content: string): string => {
  const begin = `<!-- generated: ${mark} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error(`${file} has no part between ${begin} and ${END}`)
  return `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`
}

/** Whether `file` is up to date afterwards. */
const refresh = async (
  file: string,
  what: string,
  check: boolean,
  render: (text: string) => Promise<string>,
): Promise<boolean> => {
  const path = join(root, file)
  const text = existsSync(path) ? await readFile(path, 'utf8') : ''
  const fresh = await render(text)
  if (fresh === text) return true
  if (check) console.error(`${file}: ${what} is out of date: npm run generate`)
  else await writeFile(path, fresh)
  return !check
}

const check = process.argv.includes('--check')
let upToDate = true
for (const { file, render } of FILES) upToDate = (await refresh(file, 'it', check, render)) && upToDate
for (const section of SECTIONS) {
  const render = async (text: string) => replaceSection(text, section, await section.render())
  upToDate = (await refresh(section.file, `the part ${section.mark}`, check, render)) && upToDate
}
if (!check) await writeClientSchema()
// A test of the engine compares the reference of the language with its code.
if (!check) await import('../../packages/engine/test/library/write-docs-program.ts')
process.exitCode = upToDate ? 0 : 1
