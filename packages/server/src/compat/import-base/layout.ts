import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { fileErrorText } from '@scanfarm/platform'
import { parse } from 'yaml'
import { asText } from './values.ts'

/** Locations and settings of a base folder. */
export interface BaseLayout {
  readonly folder: string
  /** Leaf values by dotted key; empty without a settings file. */
  readonly settings: ReadonlyMap<string, unknown>
  readonly settingsFile: string | undefined
  readonly workflows: string
  readonly workspaces: string
  readonly database: { readonly engine: string; readonly file: string }
}

const SETTINGS_FILE = 'osm-settings.yaml'

/** Maps whose keys the operator chose; each is one value. */
const WHOLE = new Set([
  'server.simple_user_map_key',
  'global_vars',
  'notification.telegram.telegram_channel_map',
])

const flatten = (value: unknown, path: string, into: Map<string, unknown>): void => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || WHOLE.has(path)) {
    if (path !== '') into.set(path, value)
    return
  }
  for (const [key, item] of Object.entries(value)) flatten(item, path === '' ? key : `${path}.${key}`, into)
}

const readSettings = (file: string): Map<string, unknown> => {
  const settings = new Map<string, unknown>()
  try {
    const read: unknown = parse(readFileSync(file, 'utf8'))
    if (Array.isArray(read) || (typeof read !== 'object' && read !== undefined))
      throw new Error('it must be a map of settings')
    flatten(read, '', settings)
  } catch (error) {
    throw new Error(`${file} cannot be read: ${fileErrorText(error)}`, {
      cause: error,
    })
  }
  return settings
}

/** Expands `$HOME`, `~` and `{{base_folder}}`, which is the current location of the folder. */
const expanded = (text: string, folder: string): string => {
  const path = text
    .replaceAll(/\{\{\s*base_folder\s*\}\}/g, folder)
    .replace(/^(~|\$HOME|\$\{HOME\})(?=\/|$)/, homedir())
  return isAbsolute(path) ? path : join(folder, path)
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Finds the parts of a base folder. `workspaces` overrides the settings. Throws if it is not a base folder. */
export const readLayout = (folder: string, workspaces?: string): BaseLayout => {
  const base = resolve(folder)
  if (!isFolder(base)) throw new Error(`${base} is not a folder`)
  if (workspaces !== undefined && !isFolder(workspaces))
    throw new Error(
      `${resolve(workspaces)} is not a folder: --workspaces must be the folder that contains one folder for each workspace`,
    )
  const file = join(base, SETTINGS_FILE)
  const settings = existsSync(file) ? readSettings(file) : new Map<string, unknown>()
  const path = (key: string, fallback: string): string => {
    const value = settings.get(key)
    const set = typeof value === 'string' && value !== '' ? expanded(value, base) : undefined
    const own = join(base, fallback)
    return set !== undefined && (existsSync(set) || !existsSync(own)) ? set : own
  }
  const layout: BaseLayout = {
    folder: base,
    settings,
    settingsFile: existsSync(file) ? file : undefined,
    workflows: path('environments.workflows', 'workflows'),
    workspaces:
      workspaces === undefined ? path('environments.workspaces', 'workspaces') : resolve(workspaces),
    database: {
      engine: asText(settings.get('database.db_engine')) || 'sqlite',
      file: path('database.db_path', 'database-osm.sqlite'),
    },
  }
  const isBase =
    layout.settingsFile !== undefined ||
    [layout.workflows, layout.database.file].some((part) => existsSync(part))
  if (!isBase)
    throw new Error(
      `${base} is not a base folder: it contains neither ${SETTINGS_FILE} nor workflows/ nor database-osm.sqlite`,
    )
  return layout
}
