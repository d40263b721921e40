import type { ArtifactStoreOptions } from './open.ts'

/** The part of the settings file about artifacts; secrets show themselves only when they are asked. */
export interface ArtifactSettings {
  readonly kind: 'folder' | 's3'
  readonly folder: string
  readonly s3: {
    readonly endpoint: string | undefined
    readonly bucket: string | undefined
    readonly region: string
    readonly prefix: string
    readonly accessKey: { reveal(): string } | undefined
    readonly secretKey: { reveal(): string } | undefined
    readonly forcePathStyle: boolean
  }
}

export function artifactOptions(settings: ArtifactSettings): ArtifactStoreOptions {
  if (settings.kind === 'folder') return { kind: 'folder', folder: settings.folder }
  const { endpoint, bucket = '', region, prefix, accessKey, secretKey, forcePathStyle } = settings.s3
  const credentials =
    accessKey === undefined || secretKey === undefined
      ? undefined
      : { accessKeyId: accessKey.reveal(), secretAccessKey: secretKey.reveal() }
  return { kind: 's3', endpoint, bucket, region, prefix, credentials, forcePathStyle }
}
