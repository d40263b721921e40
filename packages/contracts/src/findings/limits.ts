/** Maximum characters of each field. Imports truncate longer values, requests with longer values are refused. */
export const FINDING_LIMITS = {
  workspace: 2048,
  vuln_info: 1024,
  vuln_title: 4096,
  vuln_desc: 256 * 1024,
  vuln_poc: 256 * 1024,
  asset_type: 128,
  asset_value: 8192,
  detail_http_request: 1024 * 1024,
  detail_http_response: 1024 * 1024,
  raw_vuln_json: 1024 * 1024,
  fingerprint: 512,
} as const
/** Maximum characters of what people decide. */
export const DECISION_LIMITS = { reason: 4096, assignee: 256, ticket: 2048, comment: 16 * 1024 } as const
export const MAX_TAGS = 256
export const MAX_TAG_LENGTH = 256
