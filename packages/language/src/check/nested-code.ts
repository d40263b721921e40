import type { Hole } from '../template/parse.ts'

const INTERPRETER = /\b(?:python[\d.]*|perl|ruby|node|php|awk|gawk|mawk|jq|sed)\s+(?:-\S+\s+)*$/

/** Number of characters before a quote that are searched for the name of an interpreter. */
const MAX_HEAD = 1_000

/** The first hole of a command that is in quotes after the name of an interpreter. */
export const nestedCode = (parts: readonly (string | Hole)[]): Hole | undefined => {
  let head = ''
  let isCode = false
  for (const part of parts) {
    if (typeof part !== 'string') {
      if (isCode) return part
      head = `${head}x`
      continue
    }
    const quote = Math.max(part.lastIndexOf('"'), part.lastIndexOf("'"))
    if (quote !== -1)
      isCode = INTERPRETER.test(`${head}${part.slice(Math.max(0, quote - MAX_HEAD), quote)}`.slice(-MAX_HEAD))
    head = `${head}${part.slice(-MAX_HEAD)}`.slice(-MAX_HEAD)
  }
  return undefined
}
