import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import * as esbuild from 'esbuild'
import type { CacheName, ScriptName } from '../../packages/cli/src/commands/client.ts'
import { HELPS } from './answers.ts'
import { bundlesOf, sourcesOf, stateOf, type BundleSources } from './current.ts'

/** A library that finds files beside its own. */
const FINDS_FILES = /^jq-wasm$/

/** Large libraries that few runs use: each start would read them. */
const LARGE = /\/node_modules\/(?:ae-cvss-calculator|croner|csv-parse|htmlparser2|re2js|tar-stream)\//

/** Marks the questions of plugins, which are answered by esbuild alone. */
const RESOLVING = Symbol('resolving')

const IDENTIFIER = /^[A-Za-z_]\w*$/

/** Threads and processes: each is an entry of the bundle. */
const THREAD = /new URL\(\s*'([^']+)\.ts',\s*import\.meta\.url,?\s*\)/g
const WEEK_MS = 7 * 24 * 3_600_000

const nameOf = (root: string, path: string): string =>
  relative(join(root, 'packages'), path)
    .replace(/\.ts$/, '')
    .replaceAll(/[^\w-]+/g, '-')

export const threadsOf = async (root: string): Promise<Record<string, string>> => {
  const entries: Record<string, string> = {}
  for (const file of globSync('packages/*/src/**/*.ts', { cwd: root })) {
    const path = join(root, file)
    for (const [, name = ''] of (await readFile(path, 'utf8')).matchAll(THREAD)) {
      const thread = resolve(dirname(path), `${name}.ts`)
      entries[nameOf(root, thread)] = thread
    }
  }
  return entries
}

const OWN = /\/(?:packages\/[^/]+\/src|scripts\/bundle)\/.*\.ts$/

/** The files behind the exports of a file, also behind those of the files that it exports from. */
const exportsOf = async (path: string): Promise<Map<string, string>> => {
  const text = await readFile(path, 'utf8')
  const files = new Map(text.matchAll(DECLARED).map(([, name = '']) => [name, path]))
  for (const [, list, from = ''] of text.matchAll(EXPORT)) {
    const found = await exportsOf(join(dirname(path), from))
    for (const name of list === undefined ? found.keys() : namesIn(list))
      files.set(name, found.get(name) ?? join(dirname(path), from))
  }
  return files
}

const EXPORT = /^export (?:\*|\{([^}]*)\}) from '(\.[^']+)'/gm
const DECLARED = /^export (?:async )?(?:const|function|class) (\w+)/gm
const IMPORT = /^import \{([^}]*)\} from '(@scanfarm\/[^']+)'/gm
const LATE_IMPORT = /(const \{([^}]*)\} = await import\()'(@scanfarm\/[^']+)'/g

/** Without types, which have no code. */
const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))

/** A schema without use is left out, and with the last one its library. */
const SCHEMA =
  /^((?:export )?const \w+ = )((?:Type\.|(?:closed|named|text|flag|count|nullable)\().*(?:(?:\n(?: .*)?)*\n[)\]}].*)?)/gm

/** Imports from a package load all of it: they become imports from its files. */
const direct = (text: string, packages: ReadonlyMap<string, ReadonlyMap<string, string>>): string =>
  text
    .replaceAll(LATE_IMPORT, (whole, start: string, list: string, from: string) => {
      const found = new Set(namesIn(list).map((name) => packages.get(from)?.get(name)))
      const [file] = found
      return found.size === 1 && file !== undefined ? `${start}${JSON.stringify(file)}` : whole
    })
    .replaceAll(IMPORT, (whole, list: string, from: string) => {
      const files = packages.get(from)
      return files === undefined
        ? whole
        : namesIn(list)
            .map(
              (name) =>
                `import { ${name} } from ${JSON.stringify(files.get(name.replace(/ .*/, '')) ?? from)}; `,
            )
            .join('')
    })

/** Reads the manifest of tools: workers would need a fifth of their start for it. */
const SHIPPED = 'packages/tools/src/shipped.ts'
const MANIFEST = 'infra/tools.yaml'

/** Code that returns what the functions of a file return now. */
const returnedBy = async (path: string): Promise<string> =>
  Object.entries((await import(path)) as Record<string, () => unknown>)
    .map(([name, read]) => `export const ${name} = () => (${JSON.stringify(read())})`)
    .join('\n')

/**
 * Sources of the product: threads start from the bundle, and other files are found where the sources are, relative to
 * the bundle.
 */
export const ownSources = (root: string, folder: string, states: Map<string, string>): esbuild.Plugin => ({
  name: 'own-sources',
  async setup(builder) {
    const packages = new Map<string, Map<string, string>>()
    for (const index of globSync('packages/*/src/index.ts', { cwd: root }))
      packages.set(`@scanfarm/${index.split(sep)[1]}`, await exportsOf(join(root, index)))
    builder.onLoad({ filter: OWN }, async ({ path }) => {
      states.set(relative(root, path), stateOf(path) ?? '')
      if (path === join(root, SHIPPED)) return { contents: await returnedBy(path), loader: 'js' }
      const text = direct(await readFile(path, 'utf8'), packages).replaceAll(
        SCHEMA,
        '$1/* @__PURE__ */ (() => $2)()',
      )
      const here = `new URL(${JSON.stringify(relative(folder, path))}, import.meta.url)`
      const contents = text
        .split(THREAD)
        .map((part, index) =>
          index % 2 === 1
            ? `new URL('./${nameOf(root, resolve(dirname(path), part))}.js', import.meta.url)`
            : part
                .replaceAll('import.meta.url', `${here}.href`)
                .replaceAll('import.meta.dirname', `decodeURIComponent(new URL('.', ${here}).pathname)`),
        )
        .join('')
      return { contents, loader: 'ts' }
    })
  },
})

/**
 * A built-in module of which only what something imports is read. An `import 'node:http'` evaluates all of its getters,
 * and one of them loads an HTTP client for 50 ms.
 */
export const builtins: esbuild.Plugin = {
  name: 'builtins',
  setup(builder) {
    builder.onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) =>
      isBuiltin(path) && kind === 'import-statement'
        ? { path, namespace: 'builtin', sideEffects: false }
        : undefined,
    )
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const names = Object.getOwnPropertyNames(process.getBuiltinModule(path)).filter((key) =>
        IDENTIFIER.test(key),
      )
      const lines = names.map(
        (key, at) => `const v${at} = /* @__PURE__ */ (() => whole.${key})(); export { v${at} as ${key} }`,
      )
      const whole = `const whole = process.getBuiltinModule(${JSON.stringify(path)})`
      return { contents: [whole, 'export default whole', ...lines].join('\n') }
    })
  },
}

/**
 * Not in the bundle: a library that finds files beside its own, and those that are loaded when they are needed, like
 * those of cloud providers, which are half of all code.
 */
const apart = (folder: string): esbuild.Plugin => ({
  name: 'apart',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      const late = from.kind === 'dynamic-import' && !path.startsWith('@scanfarm/') && !isBuiltin(path)
      if (pluginData === RESOLVING || !(late || FINDS_FILES.test(path))) return undefined
      const found = await builder.resolve(path, { ...from, pluginData: RESOLVING })
      const place = `./${relative(folder, found.path)}`
      return from.kind === 'dynamic-import'
        ? { path: place, external: true }
        : { path: found.path, namespace: 'apart', pluginData: place }
    })
    builder.onResolve({ filter: LARGE, namespace: 'late' }, ({ path }) => ({
      path: `./${relative(folder, path)}`,
      external: true,
    }))
    // A script has no import statements.
    builder.onResolve({ filter: /.*/, namespace: 'apart' }, ({ path }) => ({ path, external: true }))
    builder.onLoad({ filter: /.*/, namespace: 'apart' }, async ({ path, pluginData }) => {
      const names = Object.keys((await import(path)) as object).filter(
        (name) => IDENTIFIER.test(name) && name !== 'default',
      )
      return {
        contents: `export const { ${names.join(', ')} } = await import(${JSON.stringify(pluginData)})`,
      }
    })
  },
})

/** For a file that runs none of the commands whose names it knows. */
const withoutCommands: esbuild.Plugin = {
  name: 'without-commands',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    ),
}

/** Libraries that most commands do not use. */
const SELDOM = ['ajv-formats', 'ajv/dist/2020.js', 'yaml']

/** Libraries and built-in modules that a run of `exec` may not use. */
const LATE = [
  'node:crypto',
  'node:dns',
  'node:dns/promises',
  'node:http',
  'node:https',
  'node:readline',
  'node:v8',
  'node:worker_threads',
  'node:zlib',
  'acorn',
  'ae-cvss-calculator',
  'ajv-formats',
  'ajv/dist/2020.js',
  'croner',
  'csv-parse',
  'htmlparser2',
  're2js',
  'tar-stream',
  'typebox',
]

/** The code of exports that evaluate `whole`, a module, when one of them is first used. */
const lateExports = (whole: string, names: readonly string[]): string => `let whole
const at = (name) => {
  whole ??= ${whole}
  return name === 'default' ? (whole.default ?? whole) : whole[name]
}
const late = (name) => new Proxy(function () {}, {
  get: (_, key) => at(name)[key],
  apply: (_, self, args) => Reflect.apply(at(name), self, args),
  construct: (_, args) => Reflect.construct(at(name), args),
})
${names.map((name) => `${name === 'default' ? 'export default' : `export const ${name} =`} /* @__PURE__ */ late('${name}')`).join('\n')}`

/** Loads modules when one of their functions, classes or objects is first used. */
export const late = (names: readonly string[] = SELDOM): esbuild.Plugin => ({
  name: 'late',
  setup(builder) {
    // Scripts contain the paths of these modules.
    const root = builder.initialOptions.absWorkingDir ?? ''
    const filter = new RegExp(`^(?:${names.map((name) => RegExp.escape(name)).join('|')})$`)
    builder.onResolve({ filter }, async ({ path, pluginData, ...from }) => {
      if (pluginData === RESOLVING || from.kind !== 'import-statement' || !OWN.test(from.importer))
        return undefined
      if (isBuiltin(path)) return { path, namespace: 'late', sideEffects: false }
      const found = await builder.resolve(path, { ...from, pluginData: RESOLVING })
      return { path: relative(root, found.path), namespace: 'late', sideEffects: false }
    })
    builder.onLoad({ filter: /.*/, namespace: 'late' }, async ({ path: name }) => {
      const path = isBuiltin(name) ? name : join(root, name)
      const whole = (await import(path)) as Record<string, unknown>
      const isLate = (name: string): boolean =>
        IDENTIFIER.test(name) && /^(?:function|object)$/.test(typeof whole[name])
      const names = Object.keys(whole).filter(isLate)
      const load = isBuiltin(path) ? 'process.getBuiltinModule' : 'require'
      return {
        resolveDir: dirname(path),
        // `require` of a bundled module copies all of its exports each time.
        contents: lateExports(`${load}(${JSON.stringify(path)})`, names),
      }
    })
  },
})

/** Paths of the sources that the entry points load, also through other files of the bundle. */
const loadedBy = ({ outputs }: esbuild.Metafile, entries: ReadonlySet<string>): Set<string> => {
  const files = new Set(Object.keys(outputs).filter((file) => entries.has(outputs[file]?.entryPoint ?? '')))
  for (const file of files) for (const { path } of outputs[file]?.imports ?? []) files.add(path)
  return new Set([...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {})))
}

/** Options of all bundles. */
export const COMMON = {
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'node',
  tsconfigRaw: {},
  // V8 keeps the text of all loaded code: without comments a server needs 10 to 18 MiB less. Names stay, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'none',
  logLevel: 'silent',
  external: ['*.node', 'cpu-features'],
} as const satisfies esbuild.BuildOptions

/** CommonJS libraries require built-in modules. */
export const REQUIRE = `const require = process.getBuiltinModule('module').createRequire(import.meta.url);`

const START = 'scripts/bundle/start.ts'
/** The scripts, and what each of them loads when it is first used. */
const SCRIPTS = {
  exec: { path: 'packages/cli/src/exec-main.ts', loadedLate: LATE },
  client: { path: 'packages/cli/src/client-main.ts', loadedLate: LATE },
  main: { path: 'packages/cli/src/main.ts', loadedLate: SELDOM },
} as const satisfies Record<ScriptName, unknown>

/** Options of the files that are one script each. `head`: code before all other. */
export const scriptsOf = (root: string, plugins: esbuild.Plugin[], head = '') =>
  Object.entries(SCRIPTS).map(([name, { path, loadedLate }]) => ({
    entryPoints: { [name]: join(root, path) },
    plugins: [late(loadedLate), ...plugins],
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: `(async (bundleUrl, require) => {${head}` },
    footer: { js: '})' },
  }))

/** Options of the file that starts the program, as one module. */
export const startOf = (path: string, plugins: esbuild.Plugin[]) => ({
  entryPoints: { start: path },
  plugins: [withoutCommands, ...plugins],
})

/** Builds the bundle and makes it the current one. `sealed`: the sources of this checkout never change. */
export const buildBundle = async (root: string, { sealed = false } = {}): Promise<string> => {
  const states = new Map<string, string>()
  // Only its depth matters: paths in the bundle are relative.
  const folder = join(bundlesOf(root), 'new')
  const options = {
    ...COMMON,
    absWorkingDir: root,
    outdir: folder,
    target: 'node24',
    plugins: [apart(folder), ownSources(root, folder, states), builtins],
  } as const satisfies esbuild.BuildOptions
  const entryPoints = await threadsOf(root)
  const all = await Promise.all([
    esbuild.build({ ...options, ...startOf(join(root, START), options.plugins) }),
    esbuild.build({
      ...options,
      entryPoints,
      splitting: true,
      plugins: [late(), ...options.plugins],
      banner: { js: REQUIRE },
    }),
    ...scriptsOf(root, options.plugins).map(async (script) => await esbuild.build({ ...options, ...script })),
  ])
  const ofThreads = Object.values(entryPoints).map((path) => relative(root, path))
  const own = new Set(states.keys())
  for (const path of ['pnpm-lock.yaml', 'node_modules/.scanfarm-lock', MANIFEST, ...MANIFESTS(root)])
    states.set(path, stateOf(join(root, path)) ?? '')
  const sources: BundleSources = sealed ? [] : [...states]
  const loadedWith = (...entries: readonly string[]): BundleSources => {
    const loaded = all.map(({ metafile }) => loadedBy(metafile, new Set([START, ...entries])))
    return sources.filter(([path]) => !own.has(path) || loaded.some((paths) => paths.has(path)))
  }
  const outputFiles = all.flatMap((built) => built.outputFiles)
  const hash = createHash('sha256').update(JSON.stringify(sources))
  for (const { path, contents } of outputFiles) hash.update(path).update(contents)
  return await write(root, hash.digest('hex').slice(0, 16), [
    ...outputFiles.map(({ path, contents }) => [relative(folder, path), contents] as const),
    ['sources.json', JSON.stringify(sources)],
    ...Object.entries(SCRIPTS).map(([name, { path }]): [string, string] => [
      sourcesOf(name),
      JSON.stringify(loadedWith(path, ...(name === 'client' ? [] : ofThreads))),
    ]),
    ['inputs.json', JSON.stringify(Object.assign({}, ...all.map(({ metafile }) => metafile.outputs)))],
    ['package.json', '{"type":"module"}'],
  ])
}

const MANIFESTS = (root: string): string[] => globSync('{packages/*,scripts}/package.json', { cwd: root })

/** Settings of the caller, also in files, do not apply to what is stored. */
const { PATH, HOME, TMPDIR } = process.env
const WITHOUT_SETTINGS = { PATH, HOME, TMPDIR }

/** What a program of this folder prints: nothing if it fails. */
const outputOf = async (
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<string> =>
  await promisify(execFile)(
    process.execPath,
    [...flags, '--disable-warning=ExperimentalWarning', join(import.meta.dirname, file), ...args],
    { timeout: 60_000, env: WITHOUT_SETTINGS },
  ).then(
    ({ stdout }) => stdout,
    () => '',
  )

/** The flags of Node for a command. */
export const flagsOf = (name: CacheName): string[] => {
  const text = readFileSync(join(import.meta.dirname, '../scanfarm'), 'utf8')
  const found = new RegExp(`^  ${name}\\) HEAP='([^']+)'`, 'm').exec(text) ?? /^HEAP=(\S+)$/m.exec(text)
  return found?.[1]?.split(' ') ?? []
}

/** Without it, the scripts work, but start more slowly. V8 takes compiled functions only with the flags of their process. */
export const warm = async (bundle: string): Promise<void> => {
  const names: readonly CacheName[] = ['exec', 'client', 'main', 'worker', 'server']
  await Promise.all(names.map((name) => outputOf('warm.ts', [bundle, name], flagsOf(name))))
}

/** The helps of all commands as JSON, in the words of the sources. Empty if they cannot be loaded. */
export const helpsOf = (): Promise<string> => outputOf('helps.ts')

const write = async (
  root: string,
  name: string,
  files: readonly (readonly [string, string | Uint8Array])[],
): Promise<string> => {
  const bundles = bundlesOf(root)
  const folder = join(bundles, name)
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  for (const [path, contents] of files) writeFileSync(join(fresh, path), contents)
  symlinkSync(relative(folder, process.execPath), join(fresh, 'node'))
  const [helps] = await Promise.all([helpsOf(), warm(fresh)])
  writeFileSync(join(fresh, HELPS), helps)
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
  writeFileSync(join(bundles, `current.${process.pid}`), `${name}\n`)
  renameSync(join(bundles, `current.${process.pid}`), join(bundles, 'current'))
  // Programs that still run load more from an old bundle when they need it.
  for (const old of globSync('*', { cwd: bundles }))
    if (old !== name && Date.now() - statSync(join(bundles, old)).mtimeMs > WEEK_MS)
      rmSync(join(bundles, old), { recursive: true, force: true })
  return folder
}
