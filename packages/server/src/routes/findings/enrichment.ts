import { Enrichment, wrapped } from '@scanfarm/contracts'
import { MAX_ENRICHMENT_BYTES, readEnrichment } from '@scanfarm/findings'
import { Type } from 'typebox'
import { receiveBody } from '../../http/body/receive-file.ts'
import { route } from '../../http/route.ts'
import { authorOf } from './decisions.ts'

export const listEnrichments = route(
  {
    endpoint: 'GET /enrichments',
    summary: 'List the stored files about CVEs',
    role: 'viewer',
    responses: { 200: wrapped(Type.Array(Enrichment)) },
  },
  async ({ store }) => ({ data: await store.enrichment.list() }),
)

export const loadEnrichment = route(
  {
    endpoint: 'POST /enrichments',
    summary: 'Load a file about CVEs',
    description:
      'The daily CSV file of EPSS (also in gzip), or the JSON catalog of known exploited vulnerabilities of CISA. It is the body, or the field `file` of a form, and replaces the file of its kind. Present and future findings with these CVEs carry what it says.',
    role: 'admin',
    file: { description: `The file, at most ${MAX_ENRICHMENT_BYTES / 1024 / 1024} MiB, also unpacked` },
    responses: {
      200: Type.Object({
        message: Type.String(),
        kind: Type.Enum(['epss', 'kev']),
        cves: Type.Integer({ minimum: 1 }),
        changed: Type.Integer({ minimum: 0, description: 'Findings that changed' }),
      }),
    },
    errors: ['invalid_input', 'payload_too_large', 'unsupported_media_type', 'unavailable'],
  },
  async ({ store, imports }, { http, caller }) => {
    using _slot = imports.acquire()
    const file = await receiveBody(http.stream, MAX_ENRICHMENT_BYTES, readEnrichment)
    const changed = await store.enrichment.load(file, authorOf(caller))
    return { message: 'File loaded', kind: file.kind, cves: file.rows.length, changed }
  },
)
