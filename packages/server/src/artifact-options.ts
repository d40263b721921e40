import type { ArtifactStoreOptions } from '@scanfarm/artifacts'
import type { Config } from '@scanfarm/platform'

export const artifactOptions = ({ artifacts }: Pick<Config, 'artifacts'>): ArtifactStoreOptions => {
  const { bucket = '', prefix, region, endpoint, forcePathStyle, accessKey, secretKey } = artifacts.s3
  if (artifacts.kind === 'folder') return { kind: 'folder', folder: artifacts.folder }
  return {
    kind: 's3',
    bucket,
    prefix,
    region,
    forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKey === undefined || secretKey === undefined
      ? {}
      : { credentials: { accessKeyId: accessKey.reveal(), secretAccessKey: secretKey.reveal() } }),
  }
}
