import { join, relative } from 'node:path'
import * as esbuild from 'esbuild'
import { SDKS } from '../../packages/cloud/src/providers/sdk.ts'
import * as bundle from '../bundle/build.ts'

/** Libraries that find files beside their own, or that are loaded by `createRequire`; and a package that uses each. */
export const DEPENDENCIES = {
  '@jitl/quickjs-wasmfile-release-sync': 'engine',
  'jq-wasm': 'engine',
  tldts: 'functions',
} as const

/** Installed by the operator if needed. */
export const SDK_NAMES: readonly string[] = Object.values(SDKS).flat()

const belongsTo = (path: string, names: readonly string[]): boolean =>
  names.some((name) => path === name || path.startsWith(`${name}/`))

const external: esbuild.Plugin = {
  name: 'external',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      belongsTo(path, [...Object.keys(DEPENDENCIES), ...SDK_NAMES]) ? { path, external: true } : undefined,
    )
  },
}

/** Loaded by the first file of each process and thread. */
const COMPATIBLE = "if (Error.isError === undefined) require('./node22.cjs')"
const START = join(import.meta.dirname, 'start.ts')
const SCRIPT_HEAD = `const __dirname = process.getBuiltinModule('url').fileURLToPath(new URL('.', bundleUrl)).slice(0, -1)
${COMPATIBLE}`
const HEAD = `${bundle.REQUIRE}
const __dirname = import.meta.dirname
${COMPATIBLE}`

export interface Program {
  /** By name; all are in one folder. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Paths of all sources below the root. */
  readonly sources: readonly string[]
}

/** Bundles the program for Node 22 and newer. It finds the files of its sources by their paths below the root, as in a checkout. */
export const buildProgram = async (root: string): Promise<Program> => {
  // Only its depth matters: paths in the program are relative.
  const folder = join(root, 'lib')
  const options = { ...bundle.COMMON, absWorkingDir: root, outdir: folder, target: 'node22' } as const
  const plugins = [external, bundle.ownSources(root, folder, new Map()), bundle.builtins]
  const built = await Promise.all([
    esbuild.build({ ...options, ...bundle.startOf(START, plugins), banner: { js: HEAD } }),
    esbuild.build({
      ...options,
      entryPoints: await bundle.threadsOf(root),
      splitting: true,
      banner: { js: HEAD },
      plugins: [bundle.late(), ...plugins],
    }),
    ...bundle
      .scriptsOf(root, plugins, SCRIPT_HEAD)
      .map(async (script) => await esbuild.build({ ...options, ...script })),
    esbuild.build({
      ...options,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      entryPoints: { node22: join(root, 'scripts/pack/node22.js') },
    }),
  ])
  return {
    files: new Map(
      built.flatMap(({ outputFiles }) =>
        outputFiles.map(({ path, contents }) => [relative(folder, path), contents]),
      ),
    ),
    // Those of another namespace only load one of the others.
    sources: built.flatMap(({ metafile }) =>
      Object.values(metafile.outputs).flatMap(({ inputs }) =>
        Object.keys(inputs).filter((path) => !path.startsWith('late:')),
      ),
    ),
  }
}
