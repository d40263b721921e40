import { readManifestFile, type Manifest } from './manifest.ts'
import { shippedTools } from './shipped.ts'

/** The shipped manifest. The entries of `overrides`, a manifest of the operator, replace those of the same names. */
export const readManifest = (overrides?: string): Manifest => {
  const shipped = new Map(shippedTools().map((tool) => [tool.name, tool]))
  return overrides === undefined ? shipped : new Map([...shipped, ...readManifestFile(overrides)])
}
