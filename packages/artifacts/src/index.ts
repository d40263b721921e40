export { collectArtifact } from './collect.ts'
export { openArtifactStore, type ArtifactStoreOptions } from './open.ts'
export { artifactOptions } from './settings.ts'
export { openObjectStorage } from './object-storage.ts'
