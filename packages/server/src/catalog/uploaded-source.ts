import type { Store } from '@scanfarm/store'
import type { WorkflowSource } from '@scanfarm/language'

export const UPLOADED = 'uploaded'

type Uploaded = Awaited<ReturnType<Store['workflows']['list']>>[number]

const pathOf = ({ kind, name }: Pick<Uploaded, 'kind' | 'name'>): string => `${kind}s/${name}.yaml`

/** Workflows that were uploaded to the API. They are read from Postgres again only after one of them has changed. */
export const uploadedSource = (workflows: Store['workflows']): WorkflowSource => {
  let seen: number | undefined
  let files = new Map<string, Uploaded>()
  return {
    name: UPLOADED,
    async list() {
      const version = await workflows.version()
      if (version !== seen) {
        files = new Map((await workflows.list()).map((file) => [pathOf(file), file]))
        seen = version
      }
      return [...files].map(([path, file]) => ({
        path,
        version: file.updatedAt,
        size: Buffer.byteLength(file.yaml),
      }))
    },
    read: async (path) => files.get(path)?.yaml ?? '',
  }
}
