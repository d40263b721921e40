import type { RunnerSpec } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import {
  fn,
  NoResult,
  numberArg,
  orNoResult,
  refused,
  textArg,
  type FunctionContext,
  type FunctionGroup,
  type Run,
} from './define.ts'
import { makeFolder, programPath, runPath } from './files/files.ts'
import { must } from './files/must.ts'
import { checkPath } from './paths/run-folder.ts'
import { dirname } from 'node:path'

const sshSpec = (
  args: readonly Json[],
  at: { host: number; user: number; key: number; password: number; port: number },
): Extract<RunnerSpec, { type: 'ssh' }> => {
  const host = textArg(args, at.host)
  if (host === '' || host.startsWith('-')) throw new NoResult('the host is empty')
  const [user, keyFile, password] = [
    textArg(args, at.user),
    textArg(args, at.key),
    textArg(args, at.password),
  ]
  return {
    type: 'ssh',
    host,
    port: numberArg(args, at.port, 22),
    ...(user === '' ? {} : { user }),
    ...(keyFile === '' ? {} : { keyFile }),
    ...(password === '' ? {} : { password }),
  }
}

const sshExec: Run = async (args, context) => {
  const spec = sshSpec(args, { host: 0, user: 2, key: 3, password: 4, port: 5 })
  const keyFile = await keyOf(spec.keyFile ?? '', context)
  // The runner throws if the host cannot be reached.
  const { stdout, stderr, problem } = await orNoResult(
    context,
    context.execOn(keyFile === '' ? spec : { ...spec, keyFile }, textArg(args, 1)),
  )
  if (stderr !== '') context.print('stderr', stderr)
  if (problem !== '') throw new NoResult(problem)
  return stdout.trim()
}

/** The path of a private key. This process or ssh reads it, so that commands need no access. */
const keyOf = async (text: string, context: FunctionContext): Promise<string> => {
  const path = runPath(text, context)
  if (path !== '') await checkPath(path, { ...context, owner: undefined }, 'read')
  return path
}

const sshRsync: Run = async (args, context) => {
  const [host, user] = [textArg(args, 0), textArg(args, 3)]
  if (host === '' || host.startsWith('-')) throw new NoResult('the host is empty')
  const source = await programPath(args, 1, context)
  const key = await keyOf(textArg(args, 4), context)
  const port = numberArg(args, 6, 22)
  const shell = `ssh -p ${port}${key === '' ? '' : ` -i '${key.replaceAll("'", '')}'`}`
  const remote = `${user === '' ? '' : `${user}@`}${host}:${textArg(args, 2)}`
  await must(context, ['rsync', '-az', '-e', shell, '--', source, remote])
}

/** The name of a tmux session. */
const session = (args: readonly Json[], index: number, context: FunctionContext): string => {
  const name = textArg(args, index) || `scanfarm-${context.ports.uuid().slice(0, 8)}`
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

const INSTALLED = 'programs are installed by the operator of the worker'
const DOCKER = 'use a docker image that contains them, with runner: docker'

const FARM = 'the farm assigns runs to workers itself'
const FILES = 'files reach other runs as artifacts: use register_artifact'
const RUNS =
  'start a run with run_module or run_flow, or with a trigger on an event of generate_event; plain commands are steps'

export const REMOTE_FUNCTIONS: FunctionGroup = {
  title: 'Other machines, sessions and installers',
  functions: [
    fn(
      'ssh_exec(host, command, user?, key?, password?, port?): text',
      'Runs a command on another host and returns its stdout; "" if the host cannot be reached; the reason is logged.',
      sshExec,
    ),
    fn(
      'ssh_rsync(host, source, dest, user?, key?, password?, port?): bool',
      'Copies files to another host.',
      sshRsync,
    ),
    refused('sync_from_master(source, dest)', FARM, FILES, 'bool'),
    refused('sync_from_worker(id, ip, source, dest)', FARM, FILES, 'bool'),
    refused('rsync_to_worker(id, ip, source, dest)', FARM, FILES, 'bool'),
    refused('run_on_master(action, …)', FARM, RUNS),
    refused('run_on_worker(scope, action, …)', FARM, RUNS),
    fn(
      'tmux_run(command, name?): text',
      'Starts a command in a tmux session; returns the name of the session, which continues after the run.',
      async (args, at) => {
        const name = session(args, 1, at)
        await tmux(at, 'new-session', '-d', '-s', name, textArg(args, 0))
        return name
      },
    ),
    fn(
      'tmux_capture(name): text',
      'The screen of the session; `all` means every session, each below a line with its name.',
      async (args, at) => {
        if (textArg(args, 0) === '') throw new NoResult('name a session')
        if (textArg(args, 0) !== 'all') return await capture(at, session(args, 0, at))
        const names = await sessions(at)
        const shown = await Promise.all(names.map(async (name) => await capture(at, name).catch(() => '')))
        return names.map((name, index) => `=== session: ${name} ===\n${shown[index] ?? ''}`).join('\n')
      },
    ),
    fn('tmux_send(name, keys): bool', 'Sends keys to the session.', async (args, at) => {
      await tmux(at, 'send-keys', '-t', session(args, 0, at), '--', textArg(args, 1), 'Enter')
    }),
    fn('tmux_kill(name): bool', 'Ends the session.', async (args, at) => {
      await tmux(at, 'kill-session', '-t', session(args, 0, at))
    }),
    fn('tmux_list(): list', 'Names of the sessions.', async (_args, at) => await sessions(at)),
    fn('go_getter(url, dest): bool', 'Clones a repository or downloads a file.', async (args, at) => {
      const url = textArg(args, 0).replace(/^git::/, '')
      const dest = await programPath(args, 1, at, 'write')
      await makeFolder(dirname(dest), at)
      const isGit = textArg(args, 0).startsWith('git::') || /\.git(\?|$)|^git@/.test(url)
      const argv = isGit
        ? ['git', 'clone', '--depth', '1', '--', url, dest]
        : ['curl', '-fsSL', '-o', dest, '--', url]
      const { exitCode, stderr, problem } = await at.exec(argv)
      if (exitCode !== 0) throw new NoResult(`${stderr.trim() || problem}`)
    }),
    fn(
      'go_getter_with_sshkey(key, url, dest): bool',
      'Clones a repository with a private key.',
      async (args, at) => {
        const key = await programPath(args, 0, at)
        const dest = await programPath(args, 2, at, 'write')
        await makeFolder(dirname(dest), at)
        const shell = `GIT_SSH_COMMAND=ssh -i '${key.replaceAll("'", '')}' -o IdentitiesOnly=yes`
        const { exitCode, stderr, problem } = await at.exec([
          'env',
          shell,
          'git',
          'clone',
          '--depth',
          '1',
          '--',
          textArg(args, 1),
          dest,
        ])
        if (exitCode !== 0) throw new NoResult(`${stderr.trim() || problem}`)
      },
    ),
    refused('nix_install(package, dest?)', INSTALLED, DOCKER, 'bool'),
    refused('filepath_installer(path, tool, dest?)', INSTALLED, DOCKER, 'bool'),
    refused('run_agent(message, agent?)', 'agent programs are not supported', 'use an agent step', 'text'),
  ],
}
