// Writes the generated parts of documents; with --check it only reports which are out of date (exit code 1).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SECTIONS, type Section } from './sections.ts'

const root = join(import.meta.dirname, '../..')
const END = '<!-- /generated -->'

const replaceSection = (text: string, { file, mark }: Section, content: string): string => {
  const begin = `<!-- generated: ${mark} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error(`${file} has no part between ${begin} and ${END}`)
  return `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`
}

const refresh = async (section: Section, check: boolean): Promise<boolean> => {
  const path = join(root, section.file)
  const text = await readFile(path, 'utf8')
  const fresh = replaceSection(text, section, await section.render())
  if (fresh === text) return true
  if (check) console.error(`${section.file}: the part ${section.mark} is out of date: npm run generate`)
  else await writeFile(path, fresh)
  return !check
}

const check = process.argv.includes('--check')
let upToDate = true
for (const section of SECTIONS) upToDate = (await refresh(section, check)) && upToDate
// A test of the engine compares the reference of the language with its code.
if (!check) await import('../../packages/engine/test/library/write-docs-program.ts')
process.exitCode = upToDate ? 0 : 1
