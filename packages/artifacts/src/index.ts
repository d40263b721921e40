export { collectArtifact } from './collect.ts'
export { artifactTypeOf, contentTypeNamed, contentTypeOf } from './content-type.ts'
export { checkKey, keyPart } from './key.ts'
export { openArtifactStore, type ArtifactStoreOptions } from './open.ts'
