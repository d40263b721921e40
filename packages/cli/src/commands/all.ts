import { CLIENT_COMMANDS, type Commands } from './client.ts'

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
  ...CLIENT_COMMANDS,
  completion: async () => (await import('./completion.ts')).completionCommand,
  token: async () => (await import('./operation/token.ts')).tokenCommand,
  workflow: async () => (await import('./workflow.ts')).workflowCommand,
  exec: async () => (await import('./runs/exec.ts')).execCommand,
  function: async () => (await import('./function.ts')).functionCommand,
}
