import type { RunnerSpec } from '@scanfarm/contracts'
import {
  local,
  sending,
  NoResult,
  orNoResult,
  refused,
  type FunctionContext,
  type FunctionGroup,
  type Run,
  type Call,
} from './define.ts'
import { makeFolder, programPath } from './files/files.ts'
import { runPath } from './paths/allowed.ts'
import { must } from './files/must.ts'
import { checkPath } from './paths/run-folder.ts'
import { dirname } from 'node:path'

/** Of the remote host, as an argument. */
const hostArg = (at: Call): string => {
  const host = at.text(0)
  if (host === '' || host.startsWith('-')) throw new NoResult('the host is empty')
  return host
}

const sshExec: Run = async (at) => {
  const spec: RunnerSpec = {
    type: 'ssh',
    host: hostArg(at),
    port: at.number(5, 22),
    user: at.text(2) || undefined,
    keyFile: (await keyOf(at.text(3), at)) || undefined,
    password: at.text(4) || undefined,
  }
  // The runner throws if the host cannot be reached.
  const { stdout, stderr, problem } = await orNoResult(at, at.execOn(spec, at.text(1)))
  if (stderr !== '') at.print('stderr', stderr)
  if (problem !== '') throw new NoResult(problem)
  return stdout.trim()
}

/** The path of a private key. This process or ssh reads it, so that commands need no access. */
const keyOf = async (text: string, { folders, paths, shared }: FunctionContext): Promise<string> => {
  const scope = { folders, paths, shared, owner: undefined }
  const path = runPath(text, scope)
  if (path !== '') await checkPath(path, scope, 'read')
  return path
}

const sshRsync: Run = async (at) => {
  const [host, user] = [hostArg(at), at.text(3)]
  const source = await programPath(at, 1)
  const key = await keyOf(at.text(4), at)
  const shell = `ssh -p ${at.number(6, 22)}${key === '' ? '' : ` -i '${key.replaceAll("'", '')}'`}`
  const remote = `${user === '' ? '' : `${user}@`}${host}:${at.text(2)}`
  await must(at, ['rsync', '-az', '-e', shell, '--', source, remote])
}

/** The name of a tmux session. */
const session = (context: Call, index: number): string => {
  const name = context.text(index) || `scanfarm-${context.ports.uuid().slice(0, 8)}`
  if (!/^[\w-]+$/.test(name))
    throw new NoResult('the name of a session may only contain letters, digits, - and _')
  return name
}

const tmux = async (context: FunctionContext, ...args: string[]): Promise<string> =>
  (await must(context, ['tmux', ...args])).trimEnd()

const capture = async (context: FunctionContext, name: string): Promise<string> =>
  await tmux(context, 'capture-pane', '-p', '-t', name)

const sessions = async (context: FunctionContext): Promise<string[]> => {
  const { stdout } = await context.exec(['tmux', 'list-sessions', '-F', '#{session_name}'])
  return stdout.split('\n').filter((name) => name !== '')
}

const cloning = (url: string, dest: string) => ['git', 'clone', '--depth', '1', '--', url, dest]

const getInto = async (dest: string, argv: readonly string[], at: FunctionContext): Promise<void> => {
  await makeFolder(dirname(dest), at)
  const { exitCode, stderr, problem } = await at.exec(argv)
  if (exitCode !== 0) throw new NoResult(stderr.trim() || problem)
}

const INSTALLED = 'programs are installed by the operator of the worker'
const DOCKER = 'use a docker image that contains them, with runner: docker'

const FARM = 'the farm assigns runs to workers itself'
const FILES = 'files reach other runs as artifacts: use register_artifact'
const RUNS =
  'start a run with run_module or run_flow, or with a trigger on an event of generate_event; plain commands are steps'

export const REMOTE_FUNCTIONS: FunctionGroup = {
  title: 'Other machines, sessions and installers',
  functions: [
    sending(
      'ssh_exec(host, command, user?, key?, password?, port?): text',
      'Runs a command on another host and returns its stdout; "" if the host cannot be reached; the reason is logged.',
      sshExec,
    ),
    sending(
      'ssh_rsync(host, source, dest, user?, key?, password?, port?): bool',
      'Copies files to another host.',
      sshRsync,
    ),
    refused('sync_from_master(source, dest)', FARM, FILES, 'bool'),
    refused('sync_from_worker(id, ip, source, dest)', FARM, FILES, 'bool'),
    refused('rsync_to_worker(id, ip, source, dest)', FARM, FILES, 'bool'),
    refused('run_on_master(action, …)', FARM, RUNS),
    refused('run_on_worker(scope, action, …)', FARM, RUNS),
    sending(
      'tmux_run(command, name?): text',
      'Starts a command in a tmux session; returns the name of the session, which continues after the run.',
      async (at) => {
        const name = session(at, 1)
        await tmux(at, 'new-session', '-d', '-s', name, at.text(0))
        return name
      },
    ),
    local(
      'tmux_capture(name): text',
      'The screen of the session; `all` means every session, each below a line with its name.',
      async (at) => {
        if (at.text(0) === '') throw new NoResult('name a session')
        if (at.text(0) !== 'all') return await capture(at, session(at, 0))
        const names = await sessions(at)
        const shown = await Promise.all(names.map(async (name) => await capture(at, name).catch(() => '')))
        return names.map((name, index) => `=== session: ${name} ===\n${shown[index] ?? ''}`).join('\n')
      },
    ),
    sending('tmux_send(name, keys): bool', 'Sends keys to the session.', async (at) => {
      await tmux(at, 'send-keys', '-t', session(at, 0), '--', at.text(1), 'Enter')
    }),
    local('tmux_kill(name): bool', 'Ends the session.', async (at) => {
      await tmux(at, 'kill-session', '-t', session(at, 0))
    }),
    local('tmux_list(): list', 'Names of the sessions.', (at) => sessions(at)),
    sending('go_getter(url, dest): bool', 'Clones a repository or downloads a file.', async (at) => {
      const url = at.text(0).replace(/^git::/, '')
      const dest = await programPath(at, 1, 'write')
      const isGit = at.text(0).startsWith('git::') || /\.git(\?|$)|^git@/.test(url)
      await getInto(dest, isGit ? cloning(url, dest) : ['curl', '-fsSL', '-o', dest, '--', url], at)
    }),
    sending(
      'go_getter_with_sshkey(key, url, dest): bool',
      'Clones a repository with a private key.',
      async (at) => {
        const key = await programPath(at, 0)
        const dest = await programPath(at, 2, 'write')
        const shell = `GIT_SSH_COMMAND=ssh -i '${key.replaceAll("'", '')}' -o IdentitiesOnly=yes`
        await getInto(dest, ['env', shell, ...cloning(at.text(1), dest)], at)
      },
    ),
    refused('nix_install(package, dest?)', INSTALLED, DOCKER, 'bool'),
    refused('filepath_installer(path, tool, dest?)', INSTALLED, DOCKER, 'bool'),
    refused('run_agent(message, agent?)', 'agent programs are not supported', 'use an agent step', 'text'),
  ],
}
