/** Functions that hand a text to a shell, under all their names, and which of their arguments it is. */
export const SHELL_COMMANDS: ReadonlyMap<string, number> = new Map([
  ...['exec_cmd', 'execCmd', 'bash', 'tmux_run', 'tmuxRun'].map((name): [string, number] => [name, 0]),
  ...['ssh_exec', 'sshExec'].map((name): [string, number] => [name, 1]),
])
