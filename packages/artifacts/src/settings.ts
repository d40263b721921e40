import { inDataDir, integer, path, secret, type ConfigOf } from '@scanfarm/platform'
import type { ArtifactStoreOptions } from './open.ts'
import { readS3Url, S3_FORM } from './s3-url.ts'

const KIB = 1024
const GIB = 1024 ** 3

export const artifactSettings = {
  artifacts: {
    folder: path(
      'Folder of the artifact store. All machines of a farm must share it.',
      inDataDir('artifacts'),
    ),
    s3: secret(
      `Bucket for artifacts, logs and uploads instead of the folder, as \`${S3_FORM}\`. Without KEY: the default AWS credential chain; without endpoint: AWS. \`ca\` is a file with the certificates (PEM) that sign those of the endpoint.`,
      { valid: readS3Url },
    ),
    maxBytes: integer('Largest artifact that is stored, in bytes.', {
      default: GIB,
      min: KIB,
      max: 1024 * GIB,
    }),
  },
  storage: {
    s3: secret(
      'Bucket of the `cdn_*` functions, in the same form. Workflows cannot access keys without its prefix. Not set: the functions are not available.',
      { valid: readS3Url },
    ),
  },
}

type ArtifactSettings = ConfigOf<typeof artifactSettings>['artifacts']

export const artifactOptions = ({
  folder,
  s3,
}: Pick<ArtifactSettings, 'folder' | 's3'>): ArtifactStoreOptions =>
  s3 === undefined ? { kind: 'folder', folder } : { kind: 's3', ...readS3Url(s3.reveal()) }
