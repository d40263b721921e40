import { join } from 'node:path'
import { defaultDataDir } from './config/environment.ts'
import { choice, path, type Lookup } from './config/setting.ts'

export const platformSettings = {
  dataDir: path(
    'Folder for everything that is stored on this machine: embedded services, uploads, artifacts, the first token.',
    {
      default: () => defaultDataDir(),
      defaultText: '`$XDG_DATA_HOME/scanfarm`, `/var/lib/scanfarm` (root) or `~/.scanfarm`',
    },
  ),
  log: {
    level: choice('Lowest level that is logged.', {
      of: ['debug', 'info', 'warn', 'error'],
      default: 'info',
    }),
  },
}

/** The default of a folder below the data folder. */
export const inDataDir = (name: string) => ({
  default: (lookup: Lookup) => join(String(lookup('data_dir')), name),
  defaultText: `\`<data_dir>/${name}\``,
})
