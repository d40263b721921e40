export { codeOf, unless, withPath } from './errors.ts'
export { descriptorPath, Folder, PathHandle, type Name, type User } from './path-handle.ts'
export { removeFolderAt, removeTree } from './remove.ts'
export { entriesBelow, type TreeEntry } from './tree.ts'
export {
  openBelow,
  partsBelow,
  realPath,
  RefusedPath,
  walk,
  type PathLocation,
  type WalkedPath,
} from './walk.ts'
