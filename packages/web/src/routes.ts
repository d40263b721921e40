import type { ComponentType } from 'react'
import type { Role } from './api/role.ts'

/** A lazy file of `src/screens`. */
interface ScreenFile {
  readonly Screen: ComponentType
}

export interface ScreenRoute {
  /** Path of TanStack Router: `/runs/$id`. */
  readonly path: string
  /** The title of the page; a screen that shows one thing sets a better one with `usePageTitle`. */
  readonly title: string
  /** The heading of the navigation below which a link appears; without it the screen is reached by links only. */
  readonly group?: '' | 'Work' | 'Results' | 'Automation' | 'Farm' | 'Console'
  /** The key that leads there after g. */
  readonly key?: string
  /** The role that the screen needs; the navigation of others leaves it out. */
  readonly role?: Role
  readonly load: () => Promise<ScreenFile>
}

type Load = ScreenRoute['load']
type Linked = Omit<ScreenRoute, 'group'>

const screen = (path: string, title: string, load: Load): ScreenRoute => ({ path, title, load })
/** A screen of the navigation. */
const linked = (path: string, title: string, key: string, load: Load, role?: Role): Linked => ({
  ...screen(path, title, load),
  key,
  role,
})
const inGroup = (group: ScreenRoute['group'], ...screens: readonly Linked[]): readonly ScreenRoute[] =>
  screens.map((each) => ({ ...each, group }))

export const ROUTES: readonly ScreenRoute[] = [
  ...inGroup(
    '',
    linked('/', 'Nights', 'o', () => import('./screens/overview/screen.tsx')),
  ),
  ...inGroup(
    'Work',
    linked('/jobs', 'Jobs', 'j', () => import('./screens/jobs/screen.tsx')),
    linked('/runs', 'Runs', 'r', () => import('./screens/runs/screen.tsx')),
    linked('/queue', 'Queue', 'q', () => import('./screens/queue/screen.tsx')),
  ),
  ...inGroup(
    'Results',
    linked('/findings', 'Findings', 'f', () => import('./screens/findings/screen.tsx')),
    linked('/rules', 'Rules', 'l', () => import('./screens/rules/screen.tsx')),
    linked('/assets', 'Assets', 'a', () => import('./screens/assets/screen.tsx')),
    linked('/changes', 'Changes', 'n', () => import('./screens/changes/screen.tsx')),
  ),
  ...inGroup(
    'Automation',
    linked('/workflows', 'Workflows', 'w', () => import('./screens/workflows/screen.tsx')),
    linked('/triggers', 'Schedules & triggers', 't', () => import('./screens/triggers/screen.tsx')),
    linked('/events', 'Events', 'e', () => import('./screens/events/screen.tsx')),
    linked('/webhooks', 'Webhooks', 'h', () => import('./screens/webhooks/screen.tsx'), 'admin'),
    linked('/scopes', 'Scopes', 'p', () => import('./screens/scopes/screen.tsx')),
  ),
  ...inGroup(
    'Farm',
    linked('/workers', 'Workers', 'k', () => import('./screens/workers/screen.tsx')),
    linked('/cloud', 'Cloud', 'c', () => import('./screens/cloud/screen.tsx')),
  ),
  ...inGroup(
    'Console',
    linked('/settings', 'Settings', 's', () => import('./screens/settings/screen.tsx'), 'admin'),
    linked('/access', 'Access', 'u', () => import('./screens/access/screen.tsx')),
  ),
  screen('/jobs/$id', 'Job', () => import('./screens/job/screen.tsx')),
  screen('/runs/$id', 'Run', () => import('./screens/run/screen.tsx')),
  screen('/findings/$id', 'Finding', () => import('./screens/finding/screen.tsx')),
  screen('/assets/$id', 'Asset', () => import('./screens/asset/screen.tsx')),
  screen('/hosts/$host', 'Host', () => import('./screens/host/screen.tsx')),
  screen('/workflows/$name', 'Workflow', () => import('./screens/workflow/screen.tsx')),
  screen('/workers/$id', 'Worker', () => import('./screens/worker/screen.tsx')),
]
