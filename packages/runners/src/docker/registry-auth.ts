/** Credentials of a registry in the form of the engine's API. */
export interface RegistryAuth {
  readonly serveraddress: string
  readonly username?: string
  readonly password?: string
  readonly identitytoken?: string
}

/** Credentials by registry. */
export type RegistryAuths = ReadonlyMap<string, RegistryAuth>

const DOCKER_HUB = 'docker.io'
/** Names of Docker Hub in files that `docker login` wrote. */
const HUB_NAMES = new Set([DOCKER_HUB, 'index.docker.io', 'registry-1.docker.io'])

/** Reads the `config.json` of `docker login`. Throws with advice, and without any secret content. */
export function readRegistryAuths(config: string | undefined): RegistryAuths {
  if (config === undefined) return new Map()
  const file = parse(config)
  const auths = file['auths'] ?? {}
  if (!isMap(auths)) throw problem('its "auths" is not an object with an entry for each registry')
  if ((file['credsStore'] ?? '') !== '' && Object.keys(auths).length === 0)
    throw problem(
      'it refers to a helper program ("credsStore") for the credentials; run "docker login" where no helper is configured',
    )
  return new Map(Object.entries(auths).map(([name, entry]) => [registryName(name), readAuth(name, entry)]))
}

/** The registry of an image's name: the part before the first slash if it cannot be a part of a name on Docker Hub. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/')
  const isHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost')
  return isHost ? registryName(first) : DOCKER_HUB
}

const registryName = (name: string): string => {
  const host = name.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
  return HUB_NAMES.has(host) ? DOCKER_HUB : host
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isMap(value)) return value
  } catch {
    // The parser's message would show a part of the content.
  }
  throw problem('it is not JSON of the form {"auths": {"registry.example": {"auth": "…"}}}')
}

function readAuth(name: string, entry: unknown): RegistryAuth {
  const field = (key: string): string => (isMap(entry) && typeof entry[key] === 'string' ? entry[key] : '')
  const [, username = field('username'), password = field('password')] =
    /^([^:]+):([^]*)$/.exec(Buffer.from(field('auth'), 'base64').toString().replace(/\0+$/, '')) ?? []
  const identitytoken = field('identitytoken')
  if (identitytoken !== '') return { serveraddress: registryName(name), identitytoken }
  if (username === '' || password === '')
    throw problem(`the entry of ${registryName(name)} has neither "auth" nor "username" and "password"`)
  return { serveraddress: registryName(name), username, password }
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const problem = (what: string): Error =>
  new Error(`config.json of runner.docker_config cannot be used: ${what}`)
