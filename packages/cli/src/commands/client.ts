import { commandNamed } from './names.ts'
import type { MakeCommand } from '../noun.ts'

/** Commands by name, and how they are loaded. */
export type Commands = Readonly<Record<string, () => Promise<MakeCommand>>>

/** Those that only call a server, in the order of the help. The bundle contains them as one script. */
export const CLIENT_COMMANDS: Commands = {
  health: async () => (await import('./operation/health.ts')).healthCommand,
  open: async () => (await import('./open.ts')).openCommand,
  run: async () => (await import('./runs/run.ts')).runCommand,
  runs: async () => (await import('./runs/runs.ts')).runsCommand,
  job: async () => (await import('./runs/job.ts')).jobCommand,
  cancel: async () => (await import('./runs/change-runs.ts')).cancelCommand,
  duplicate: async () => (await import('./runs/change-runs.ts')).duplicateCommand,
  start: async () => (await import('./runs/change-runs.ts')).startCommand,
  steps: async () => (await import('./runs/runs.ts')).stepsCommand,
  logs: async () => (await import('./runs/logs.ts')).logsCommand,
  artifacts: async () => (await import('./runs/artifacts.ts')).artifactsCommand,
  findings: async () => (await import('./findings/findings.ts')).findingsCommand,
  assets: async () => (await import('./findings/findings.ts')).assetsCommand,
  workflows: async () => (await import('./workflows.ts')).workflowsCommand,
  workers: async () => (await import('./operation/workers.ts')).workersCommand,
  queue: async () => (await import('./nights.ts')).queueCommand,
  diff: async () => (await import('./nights.ts')).diffCommand,
  report: async () => (await import('./nights.ts')).reportCommand,
  cloud: async () => (await import('./operation/cloud.ts')).cloudCommand,
  scopes: async () => (await import('./findings/scopes.ts')).scopesCommand,
  'never-scan': async () => (await import('./findings/never-scan.ts')).neverScanCommand,
  'was-it-us': async () => (await import('./findings/was-it-us.ts')).wasItUsCommand,
  limits: async () => (await import('./operation/limits.ts')).limitsCommand,
  shares: async () => (await import('./operation/shares.ts')).sharesCommand,
  schedules: async () => (await import('./schedules.ts')).schedulesCommand,
  webhooks: async () => (await import('./webhooks.ts')).webhooksCommand,
  events: async () => (await import('./events.ts')).eventsCommand,
  upload: async () => (await import('./operation/upload.ts')).uploadCommand,
}

export type ScriptName = 'exec' | 'client' | 'main'
/** Names compiled functions of a script. V8 takes them only with the flags of their process, which depend on the command. */
export type CacheName = ScriptName | 'worker' | 'server'

/** The script of the bundle that contains a command, and its compiled functions. */
export const scriptOf = (given?: string): { readonly script: ScriptName; readonly cache: CacheName } => {
  const name = commandNamed(given)
  if (name === 'worker' || name === 'server') return { script: 'main', cache: name }
  const script = name === 'exec' ? name : Object.hasOwn(CLIENT_COMMANDS, name) ? 'client' : 'main'
  return { script, cache: script }
}
