import type { ArtifactStoreOptions } from './open.ts'
import type { S3Options } from './s3-client.ts'

/** The part of the settings file about artifacts; secrets show themselves only when they are asked. */
export interface ArtifactSettings {
  readonly kind: 'folder' | 's3'
  readonly folder: string
  readonly s3: S3Settings
}

export interface S3Settings {
  readonly endpoint: string | undefined
  readonly bucket: string | undefined
  readonly region: string
  readonly prefix: string
  readonly accessKey: { reveal(): string } | undefined
  readonly secretKey: { reveal(): string } | undefined
  readonly forcePathStyle: boolean
}

export function artifactOptions(settings: ArtifactSettings): ArtifactStoreOptions {
  if (settings.kind === 'folder') return { kind: 'folder', folder: settings.folder }
  return { kind: 's3', ...s3Options(settings.s3) }
}

export const s3Options = (settings: S3Settings): S3Options => {
  const { endpoint, bucket = '', region, prefix, accessKey, secretKey, forcePathStyle } = settings
  const credentials =
    accessKey === undefined || secretKey === undefined
      ? undefined
      : { accessKeyId: accessKey.reveal(), secretAccessKey: secretKey.reveal() }
  return { endpoint, bucket, region, prefix, credentials, forcePathStyle }
}
