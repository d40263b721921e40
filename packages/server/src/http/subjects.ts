/** The subjects of endpoints in the order of the documents, with the first words of their paths. */
const SUBJECTS = {
  Runs: 'runs step-results tasks upload-file',
  Jobs: 'jobs',
  Findings: 'asset-stats assets enrichments finding-rules hosts reports vulnerabilities',
  Cloud: 'cloud',
  Workflows: 'functions workflow-upload workflow.schema.json workflows',
  Workspaces: 'artifacts orgs snapshot-download snapshots workspace-names workspaces ws',
  Scopes: 'limits never-scan scope-check scopes traffic',
  Events: 'event-logs event-receiver events triggers',
  Schedules: 'nights schedules',
  Webhooks: 'incoming-webhooks webhook-deliveries webhook-runs webhook-subscriptions webhooks',
  Farm: 'database docs health metrics openapi.json queue registry-info registry-install server-info settings shares stats workers',
  Access: 'audit login logout saved-filters session sessions tokens users',
  Models: 'agent llm',
} as const

export type Tag = keyof typeof SUBJECTS
export const TAGS = Object.keys(SUBJECTS) as Tag[]

/** Throws for a path that begins with another word. */
export const tagOf = (path: string): Tag => {
  const [, first = ''] = path.split('/')
  const found = TAGS.find((tag) => SUBJECTS[tag].split(' ').includes(first))
  if (found !== undefined) return found
  throw new Error(`${path} has no subject: name its first word in packages/server/src/http/subjects.ts`)
}
