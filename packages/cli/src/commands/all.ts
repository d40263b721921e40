import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'

type MakeCommand = (terminal: Terminal) => Command

/** Commands by name, and how they are loaded. */
export type Commands = Readonly<Record<string, () => Promise<MakeCommand>>>

/** In the order of the help. The code of a command is loaded when the command is used. */
export const COMMANDS: Commands = {
  demo: async () => (await import('./demo.ts')).demoCommand,
  server: async () => (await import('./server.ts')).serverCommand,
  worker: async () => (await import('./worker.ts')).workerCommand,
  config: async () => (await import('./config.ts')).configCommand,
  migrate: async () => (await import('./operations.ts')).migrateCommand,
  doctor: async () => (await import('./operations.ts')).doctorCommand,
  tools: async () => (await import('./tools.ts')).toolsCommand,
  'import-base': async () => (await import('./import-base.ts')).importBaseCommand,
  health: async () => (await import('./health.ts')).healthCommand,
  open: async () => (await import('./open.ts')).openCommand,
  run: async () => (await import('./run.ts')).runCommand,
  runs: async () => (await import('./groups.ts')).runsCommand,
  job: async () => (await import('./job.ts')).jobCommand,
  cancel: async () => (await import('./change-runs.ts')).cancelCommand,
  duplicate: async () => (await import('./change-runs.ts')).duplicateCommand,
  start: async () => (await import('./change-runs.ts')).startCommand,
  steps: async () => (await import('./lists.ts')).stepsCommand,
  logs: async () => (await import('./logs.ts')).logsCommand,
  artifacts: async () => (await import('./artifacts.ts')).artifactsCommand,
  findings: async () => (await import('./findings.ts')).findingsCommand,
  assets: async () => (await import('./findings.ts')).assetsCommand,
  workflows: async () => (await import('./groups.ts')).workflowsCommand,
  workers: async () => (await import('./groups.ts')).workersCommand,
  queue: async () => (await import('./nights.ts')).queueCommand,
  diff: async () => (await import('./nights.ts')).diffCommand,
  report: async () => (await import('./nights.ts')).reportCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  cloud: async () => (await import('./cloud.ts')).cloudCommand,
  scopes: async () => (await import('./scopes.ts')).scopesCommand,
  'never-scan': async () => (await import('./never-scan.ts')).neverScanCommand,
  'was-it-us': async () => (await import('./was-it-us.ts')).wasItUsCommand,
  limits: async () => (await import('./limits.ts')).limitsCommand,
  shares: async () => (await import('./shares.ts')).sharesCommand,
  schedules: async () => (await import('./schedules.ts')).schedulesCommand,
  webhooks: async () => (await import('./webhooks.ts')).webhooksCommand,
  events: async () => (await import('./events.ts')).eventsCommand,
  upload: async () => (await import('./upload.ts')).uploadCommand,
  token: async () => (await import('./token.ts')).tokenCommand,
  workflow: async () => (await import('./workflow.ts')).workflowCommand,
  exec: async () => (await import('./exec.ts')).execCommand,
  function: async () => (await import('./function.ts')).functionCommand,
}
