import type { ArtifactStore } from '@scanfarm/contracts'
import { openFolderStore, type FolderOptions } from './folder-store.ts'
import type { S3Options } from './s3-client.ts'
import { openS3Store } from './s3-store.ts'

export type ArtifactStoreOptions =
  ({ readonly kind: 'folder' } & FolderOptions) | ({ readonly kind: 's3' } & S3Options)

/** Connects on first use; `check` reports whether the store works. */
export const openArtifactStore = (options: ArtifactStoreOptions): ArtifactStore =>
  options.kind === 'folder' ? openFolderStore(options) : openS3Store(options)
