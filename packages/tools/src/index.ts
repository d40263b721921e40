export { installAdvice } from './advice.ts'
export { architecturesOf, ownArchitecture, releaseFileOf } from './architecture.ts'
export { ToolError } from './errors.ts'
export { factTexts } from './facts.ts'
export { boundVariables } from './bounds.ts'
export type { ToolFolders } from './folders.ts'
export { installTool } from './install/install.ts'
export { mirrorTool } from './install/mirror.ts'
export type { OnBytes } from './install/download.ts'
export { parseManifest, selectTools, type Manifest, type Tool } from './manifest.ts'
export { readManifest } from './read-manifest.ts'
export type { Facts } from './schema.ts'
export {
  findProgram,
  programIn,
  statusOf,
  toolProblems,
  type ToolSearchPath,
  type ToolStatus,
} from './status.ts'
export { programsToInterrupt } from './stops.ts'
export { isAtLeast, questionOf, versionIn, versionOf } from './version.ts'
