import { VARIABLE_NAME, choice, flag, list, path, paths, text, variables } from '@scanfarm/platform'

const OWN = /^(SCANFARM_.*|(DATABASE|REDIS)_URL(_FILE)?)$/
const SHELL =
  /^(LD_.*|DYLD_.*|GCONV_PATH|BASH_ENV|ENV|BASHOPTS|SHELLOPTS|BASH_FUNC.*|PS[0-4]|PROMPT_COMMAND|IFS|CDPATH|GLOBIGNORE|POSIXLY_CORRECT)$/
const OTHER_SETTINGS: Readonly<Record<string, string>> = {
  PATH: 'set runner.path or folders.base',
  HOME: 'set runner.home',
  TMPDIR: 'each attempt has its own',
  PWD: 'commands start in the folder of the workspace',
}

/** Names that commands must not get from the settings. */
const refusedForCommands = (name: string): string | undefined => {
  if (OWN.test(name)) return 'it belongs to this program and may hold its own secrets'
  if (SHELL.test(name)) return 'it changes what shells and programs do with values that are escaped for them'
  return OTHER_SETTINGS[name]
}

/** Why `runner.env` cannot have a variable of this name, or nothing. */
export const commandVariableProblem = (name: string): string | undefined =>
  VARIABLE_NAME.test(name) ? refusedForCommands(name) : 'names are of letters, digits and _'

export const runnerSettings = {
  runner: {
    path: text('`PATH` of commands. `tool:` capabilities are searched in it too.', {
      default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    }),
    env: variables(
      'Environment variables of commands on every runner: `NAME` passes on the variable of this program (`*` is a wildcard), `NAME=value` sets a value, `NAME=@PATH` sets the content of a file. Values are masked in everything that is recorded, except short values, paths, and addresses without credentials.',
      { refuse: refusedForCommands, mask: 'all' },
    ),
    home: path(
      'Folder for home folders of commands on this machine that are kept after a run. Not set: each attempt has an empty home, which is deleted with it.',
    ),
    homeMode: choice(
      'Which commands share a home. `workspace`: each workspace has its own home below `runner.home`, created from `<runner.home>/skel`. `shared`: all commands share `runner.home` and can only read it. `shared-rw`: all commands can also write to it, so any workspace can attack all others.',
      { of: ['workspace', 'shared', 'shared-rw'], default: 'workspace' },
    ),
    user: text(
      'Users of commands when this program runs as root. `FIRST-LAST`: uids, and gids of the same numbers, of which each workspace with runs has its own; nothing else may use them. A name or a uid: one user for all commands.',
      { default: '40000-44095' },
    ),
    isolation: choice(
      'How commands on this machine are isolated from this program and from other runs. `auto`: by what is available, with a warning if nothing is; `require`: refuse to start without isolation; `uids` (as root) and `bubblewrap` (otherwise): refuse to start without this one; `none`: not isolated.',
      { of: ['auto', 'require', 'uids', 'bubblewrap', 'none'], default: 'auto' },
    ),
    newPrivileges: flag(
      'Let commands on this machine gain privileges: by setuid programs like `sudo`, and by file capabilities. In sandboxes they never do.',
      { default: false },
    ),
    paths: paths(
      'Files and folders, with their content, that functions and steps of workflows may read in addition to the folders of the run. The suffix `:rw` also allows writing. The user of commands needs the permission as well.',
      { default: [] },
    ),
    dockerImages: list('Docker images that runs may use. `*` is a wildcard. Empty: none.', {
      default: ['*'],
    }),
    dockerVolumes: list(
      'Folders and names of volumes that docker runs may mount in addition to their own folders. `*` is a wildcard, the suffix `:ro` allows only reading, also of everything below the folder. Empty: none.',
      { default: ['*'] },
    ),
    dockerNetworks: list(
      'Docker networks that workflows and callers of runs may choose in addition to `none`. `*` is a wildcard. `host` is the network of the engine’s machine, including its loopback address. Empty: only `none`.',
      { default: ['*'] },
    ),
    dockerHost: text(
      'Docker engine, as `unix:///path` or `tcp://host:port`. The latter with TLS if `runner.docker_config` has a ca.pem.',
      { default: 'unix:///var/run/docker.sock' },
    ),
    dockerConfig: path(
      'Folder with the files of docker’s command line, each optional: `config.json` with the credentials for image registries that `docker login` writes, `ca.pem` of the engine, `cert.pem` and `key.pem` of its client.',
      {
        secretsBelow: ['config.json', 'key.pem'],
      },
    ),
    sshHosts: list('Hosts that the ssh runner may connect to. `*` is a wildcard. Empty: none.', {
      default: ['*'],
    }),
    sshKeyFile: text('Private key of the ssh runner for workflows that name none.', {
      secretFile: true,
    }),
    sshKnownHosts: text('File of known hosts. Not set: `~/.ssh/known_hosts`.'),
  },
}
