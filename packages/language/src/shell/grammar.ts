import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { Language, Parser, type Node } from 'web-tree-sitter'

/** A node of the syntax tree of a shell command. */
export interface ShellNode {
  readonly type: string
  readonly text: string
  readonly children: readonly ShellNode[]
}

export const GRAMMAR_LIMITS = { chars: 65_536, cpuMs: 250, nodes: 50_000, depth: 200 } as const

const require = createRequire(import.meta.url)

const loadGrammar = async (): Promise<Parser> => {
  const [wasmBinary, grammar] = await Promise.all([
    readFile(require.resolve('web-tree-sitter/web-tree-sitter.wasm')),
    readFile(require.resolve('tree-sitter-bash/tree-sitter-bash.wasm')),
  ])
  await Parser.init({ wasmBinary })
  const loaded = new Parser()
  loaded.setLanguage(await Language.load(grammar))
  return loaded
}

const parser = await loadGrammar()
let isCompiled = false

/**
 * V8 compiles a function of WebAssembly at its first call, and optimizes it after many. The largest function of the
 * grammar takes 500 MiB to optimize and stays 30 MiB larger, so the first parse happens while V8 optimizes nothing. It
 * takes 10 ms, which a command without values does not need.
 */
const compile = (): void => {
  if (isCompiled) return
  isCompiled = true
  setFlagsFromString('--no-wasm-tier-up')
  setFlagsFromString('--no-wasm-dynamic-tiering')
  try {
    parser.parse('true')?.delete()
  } finally {
    setFlagsFromString('--wasm-tier-up')
    setFlagsFromString('--wasm-dynamic-tiering')
  }
}

class TooBig extends Error {}

const copied = (root: Node): ShellNode => {
  let left: number = GRAMMAR_LIMITS.nodes
  const copy = (node: Node, depth: number): ShellNode => {
    if (left-- <= 0 || depth > GRAMMAR_LIMITS.depth) throw new TooBig()
    return {
      type: node.type,
      text: node.text,
      children: node.namedChildren.map((child) => copy(child, depth + 1)),
    }
  }
  return copy(root, 0)
}

/** The grammar fails on escapes in the pattern of `${x%\]}`, which contains no code. */
const PATTERN = /(\$\{[A-Za-z_]\w*(?:##?|%%?))(?:\\[^\n]|[^\n{}\\'"$`;|&<>()])*\}/g

const withoutPatterns = (text: string): string =>
  text.replaceAll(PATTERN, (whole, name: string) => (whole.includes('SCANFARMVALUE') ? whole : `${name}x}`))

const cpuMsSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** The syntax tree of a command; undefined if the grammar cannot parse it within its limits. */
export const parseShell = (text: string): ShellNode | undefined => {
  if (text.length > GRAMMAR_LIMITS.chars) return undefined
  compile()
  const before = process.threadCpuUsage()
  const tree = parser.parse(withoutPatterns(text), null, {
    progressCallback: () => cpuMsSince(before) > GRAMMAR_LIMITS.cpuMs,
  })
  if (tree === null) {
    parser.reset()
    return undefined
  }
  try {
    return tree.rootNode.hasError ? undefined : copied(tree.rootNode)
  } catch (error) {
    if (error instanceof TooBig) return undefined
    throw error
  } finally {
    tree.delete()
  }
}
