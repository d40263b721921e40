import { parse } from 'yaml'
import { createKeyPair } from '../../machine/ssh-keys.ts'
import { quote } from '@scanfarm/runners'
import { CloudError } from '../../provider.ts'

/** The parts of a machine's user data that containers support. */
export interface FirstBoot {
  readonly users: readonly BootUser[]
  /** OpenSSH private host key. */
  readonly hostKey: string
  readonly passwords: boolean
  readonly files: readonly BootFile[]
  /** Shell commands that run before sshd starts. */
  readonly early: readonly string[]
  /** Shell commands that run after sshd has started. */
  readonly commands: readonly string[]
  /** The whole document. */
  readonly document: string
}

export interface BootUser {
  readonly name: string
  readonly shell: string
  readonly keys: readonly string[]
}

export interface BootFile {
  readonly path: string
  readonly content: Buffer
  /** Octal. */
  readonly mode: string
  /** `user:group` */
  readonly owner: string
}

/** Keys of cloud-init that have no effect on containers: their image has all programs, and no sudo. */
const IGNORED: ReadonlySet<string> = new Set(
  [
    'apt disable_root fqdn hostname manage_etc_hosts output packages package_update',
    'package_reboot_if_required package_upgrade preserve_hostname ssh_deletekeys ssh_genkeytypes swap',
    'timezone',
  ].flatMap((line) => line.split(' ')),
)
const SUPPORTED: ReadonlySet<string> = new Set(
  ['bootcmd runcmd ssh_authorized_keys ssh_keys ssh_pwauth users write_files'].flatMap((line) =>
    line.split(' '),
  ),
)
const MOST_BYTES = 64 * 1024

/** User and key of the request, as for the default user of a cloud. */
export interface DefaultUser {
  readonly name: string
  readonly key: string
}

/** Refuses documents that are not `#cloud-config` or contain keys that containers do not support. */
export function readUserData(text: string, defaultUser: DefaultUser): FirstBoot {
  if (!/^#cloud-config\s*\n/.test(text)) throw refused('it does not start with #cloud-config')
  if (text.length > MOST_BYTES) throw refused(`it is longer than ${MOST_BYTES} bytes`)
  const config = fieldsOf(parseYaml(text), 'it')
  const unsupported = Object.keys(config).filter((key) => !SUPPORTED.has(key) && !IGNORED.has(key))
  if (unsupported.length > 0) throw refused(`the local provider does not support ${unsupported.join(', ')}`)
  const { ed25519_private: hostKey = createKeyPair('machine').privateKey } = fieldsOf(
    config['ssh_keys'],
    'ssh_keys',
  )
  return {
    users: readUsers(config, defaultUser),
    hostKey: `${textOf(hostKey, 'ed25519_private').trim()}\n`,
    passwords: config['ssh_pwauth'] === true,
    files: listOf(config['write_files'], 'write_files').map(readFile),
    early: listOf(config['bootcmd'], 'bootcmd').map(readCommand),
    commands: listOf(config['runcmd'], 'runcmd').map(readCommand),
    document: text,
  }
}

const refused = (why: string): CloudError => new CloudError('refused', `the user data cannot be used: ${why}`)

function parseYaml(text: string): unknown {
  try {
    const value: unknown = parse(text)
    return value
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error))
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown, name: string): Fields {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused(`${name} must be a mapping`)
  return Object.fromEntries(Object.entries(value))
}

function listOf(value: unknown, name: string): unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw refused(`${name} must be a list`)
  return value
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw refused(`${name} must be a string`)
  return value
}

const textsOf = (value: unknown, name: string): string[] =>
  listOf(value, name).map((item) => textOf(item, name))

/** Without a list there is only the default user, as with cloud-init. */
function readUsers(config: Fields, defaultUser: DefaultUser): BootUser[] {
  const common = textsOf(config['ssh_authorized_keys'], 'ssh_authorized_keys')
  const own: BootUser = { name: defaultUser.name, shell: '', keys: [defaultUser.key, ...common] }
  return listOf(config['users'] ?? ['default'], 'users').map((item) => {
    if (item === 'default') return own
    const user = fieldsOf(item, 'users')
    const name = textOf(user['name'], 'users.name')
    if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(name))
      throw refused(`${JSON.stringify(name)} is not a valid user name`)
    const shell = user['shell'] === undefined ? '' : textOf(user['shell'], 'users.shell')
    return { name, shell, keys: textsOf(user['ssh_authorized_keys'], 'users.ssh_authorized_keys') }
  })
}

function readFile(item: unknown): BootFile {
  const file = fieldsOf(item, 'write_files')
  const path = textOf(file['path'], 'write_files.path')
  if (!path.startsWith('/')) throw refused(`write_files.path ${path} is not absolute`)
  const content = file['content'] === undefined ? '' : textOf(file['content'], 'write_files.content')
  const encoding = file['encoding'] ?? 'text/plain'
  if (encoding !== 'text/plain' && encoding !== 'b64' && encoding !== 'base64')
    throw refused('write_files.encoding must be text/plain or base64')
  return {
    path,
    content: Buffer.from(content, encoding === 'text/plain' ? 'utf8' : 'base64'),
    mode: file['permissions'] === undefined ? '0644' : textOf(file['permissions'], 'write_files.permissions'),
    owner: file['owner'] === undefined ? 'root:root' : textOf(file['owner'], 'write_files.owner'),
  }
}

/** A list is a program with its arguments, a string a shell command. */
const readCommand = (item: unknown): string =>
  Array.isArray(item) ? item.map((word) => quote(String(word))).join(' ') : textOf(item, 'a command')
