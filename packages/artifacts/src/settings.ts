import {
  allOrNone,
  checked,
  choice,
  inDataDir,
  integer,
  path,
  secret,
  text,
  type ConfigOf,
} from '@scanfarm/platform'
import type { ArtifactStoreOptions } from './open.ts'
import type { S3Options } from './s3-client.ts'

const KIB = 1024
const GIB = 1024 ** 3

/** Services other than AWS get the bucket in the path: not all have a host name for each bucket. */
const common = {
  accessKey: secret('Access key. Not set: the default AWS credential chain.'),
  secretKey: secret('Secret key that belongs to the access key.'),
}

export const artifactSettings = {
  artifacts: checked(
    {
      kind: choice('Where artifacts, logs and uploads are stored.', {
        of: ['folder', 's3'],
        default: 'folder',
      }),
      folder: path(
        'Folder of the artifact store. All machines of a farm must share it.',
        inDataDir('artifacts'),
      ),
      maxBytes: integer('Largest artifact that is stored, in bytes.', {
        default: GIB,
        min: KIB,
        max: 1024 * GIB,
      }),
      s3: checked(
        {
          endpoint: text('URL of an S3-compatible service. Not set: AWS.'),
          bucket: text('Bucket. Required for `artifacts.kind: s3`.'),
          region: text('Region of the bucket.', { default: 'us-east-1' }),
          prefix: text('Prefix of every key.', { default: '' }),
          ca: path(
            'File with the certificates (PEM) that sign those of this service and of `storage.s3`. Not set: the public ones.',
          ),
          ...common,
        },
        allOrNone('artifacts.s3.access_key', 'artifacts.s3.secret_key'),
      ),
    },
    (value) =>
      value('artifacts.kind') === 's3' && value('artifacts.s3.bucket') === undefined
        ? ['artifacts.s3.bucket (SCANFARM_ARTIFACTS_S3_BUCKET) must be set when artifacts.kind is s3']
        : [],
  ),
  storage: {
    s3: checked(
      {
        endpoint: text('URL of an S3-compatible service for the `cdn_*` functions. Not set: AWS.'),
        bucket: text('Bucket of the `cdn_*` functions. Not set: the functions are not available.'),
        region: text('Region of that bucket.', { default: 'us-east-1' }),
        prefix: text('Prefix of every key in that bucket. Workflows cannot access other keys.', {
          default: '',
        }),
        ...common,
      },
      allOrNone('storage.s3.access_key', 'storage.s3.secret_key'),
    ),
  },
}

type ArtifactSettings = ConfigOf<typeof artifactSettings>['artifacts']
interface Key {
  reveal(): string
}
export interface S3Settings extends Omit<ArtifactSettings['s3'], 'accessKey' | 'secretKey' | 'ca'> {
  readonly ca?: string | undefined
  readonly accessKey: Key | undefined
  readonly secretKey: Key | undefined
}

export function artifactOptions(
  settings: Pick<ArtifactSettings, 'kind' | 'folder' | 's3'>,
): ArtifactStoreOptions {
  if (settings.kind === 'folder') return { kind: 'folder', folder: settings.folder }
  return { kind: 's3', ...s3Options(settings.s3) }
}

export const s3Options = (settings: S3Settings): S3Options => {
  const { endpoint, bucket = '', region, prefix, accessKey, secretKey, ca } = settings
  const credentials =
    accessKey === undefined || secretKey === undefined
      ? undefined
      : { accessKeyId: accessKey.reveal(), secretAccessKey: secretKey.reveal() }
  return { endpoint, bucket, region, prefix, credentials, ca, forcePathStyle: endpoint !== undefined }
}
