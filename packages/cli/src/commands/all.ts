import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'

type MakeCommand = (terminal: Terminal) => Command

/** Commands by name, and how they are loaded. */
export type Commands = Readonly<Record<string, () => Promise<MakeCommand>>>

/** In the order of the help. The code of a command is loaded when the command is used. */
export const COMMANDS: Commands = {
  demo: async () => (await import('./demo.ts')).demoCommand,
  server: async () => (await import('./operation/server.ts')).serverCommand,
  worker: async () => (await import('./operation/worker.ts')).workerCommand,
  config: async () => (await import('./operation/config.ts')).configCommand,
  migrate: async () => (await import('./operation/operations.ts')).migrateCommand,
  doctor: async () => (await import('./operation/operations.ts')).doctorCommand,
  tools: async () => (await import('./operation/tools.ts')).toolsCommand,
  'import-base': async () => (await import('./operation/import-base.ts')).importBaseCommand,
  health: async () => (await import('./operation/health.ts')).healthCommand,
  open: async () => (await import('./open.ts')).openCommand,
  run: async () => (await import('./runs/run.ts')).runCommand,
  runs: async () => (await import('./groups.ts')).runsCommand,
  job: async () => (await import('./runs/job.ts')).jobCommand,
  cancel: async () => (await import('./runs/change-runs.ts')).cancelCommand,
  duplicate: async () => (await import('./runs/change-runs.ts')).duplicateCommand,
  start: async () => (await import('./runs/change-runs.ts')).startCommand,
  steps: async () => (await import('./lists.ts')).stepsCommand,
  logs: async () => (await import('./runs/logs.ts')).logsCommand,
  artifacts: async () => (await import('./runs/artifacts.ts')).artifactsCommand,
  findings: async () => (await import('./findings/findings.ts')).findingsCommand,
  assets: async () => (await import('./findings/findings.ts')).assetsCommand,
  workflows: async () => (await import('./groups.ts')).workflowsCommand,
  workers: async () => (await import('./groups.ts')).workersCommand,
  queue: async () => (await import('./nights.ts')).queueCommand,
  diff: async () => (await import('./nights.ts')).diffCommand,
  report: async () => (await import('./nights.ts')).reportCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
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
  token: async () => (await import('./operation/token.ts')).tokenCommand,
  workflow: async () => (await import('./workflow.ts')).workflowCommand,
  exec: async () => (await import('./runs/exec.ts')).execCommand,
  function: async () => (await import('./function.ts')).functionCommand,
}
