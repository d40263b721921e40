import { path, text } from '@scanfarm/platform'

export const toolSettings = {
  tools: {
    manifest: path(
      'Your own manifest of tools: its entries are added to those of `infra/tools.yaml`, or replace the ones of the same names.',
    ),
    mirror: text(
      'URL or folder that has the release files of tools, below the paths of their URLs; `scanfarm tools mirror` fills a folder. Not set: they come from the projects.',
    ),
  },
}
