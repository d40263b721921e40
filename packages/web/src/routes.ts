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

const inGroup = (
  group: ScreenRoute['group'],
  ...screens: readonly Omit<ScreenRoute, 'group'>[]
): readonly ScreenRoute[] => screens.map((screen) => ({ ...screen, group }))

export const ROUTES: readonly ScreenRoute[] = [
  ...inGroup('', {
    path: '/',
    title: 'Nights',
    key: 'o',
    load: () => import('./screens/overview/screen.tsx'),
  }),
  ...inGroup(
    'Work',
    { path: '/jobs', title: 'Jobs', key: 'j', load: () => import('./screens/jobs/screen.tsx') },
    { path: '/runs', title: 'Runs', key: 'r', load: () => import('./screens/runs/screen.tsx') },
    { path: '/queue', title: 'Queue', key: 'q', load: () => import('./screens/queue/screen.tsx') },
  ),
  ...inGroup(
    'Results',
    { path: '/findings', title: 'Findings', key: 'f', load: () => import('./screens/findings/screen.tsx') },
    { path: '/rules', title: 'Rules', key: 'l', load: () => import('./screens/rules/screen.tsx') },
    { path: '/assets', title: 'Assets', key: 'a', load: () => import('./screens/assets/screen.tsx') },
    { path: '/changes', title: 'Changes', key: 'n', load: () => import('./screens/changes/screen.tsx') },
  ),
  ...inGroup(
    'Automation',
    {
      path: '/workflows',
      title: 'Workflows',
      key: 'w',
      load: () => import('./screens/workflows/screen.tsx'),
    },
    {
      path: '/triggers',
      title: 'Schedules & triggers',
      key: 't',
      load: () => import('./screens/triggers/screen.tsx'),
    },
    { path: '/events', title: 'Events', key: 'e', load: () => import('./screens/events/screen.tsx') },
    {
      path: '/webhooks',
      title: 'Webhooks',
      key: 'h',
      role: 'admin',
      load: () => import('./screens/webhooks/screen.tsx'),
    },
    { path: '/scopes', title: 'Scopes', key: 'p', load: () => import('./screens/scopes/screen.tsx') },
  ),
  ...inGroup(
    'Farm',
    { path: '/workers', title: 'Workers', key: 'k', load: () => import('./screens/workers/screen.tsx') },
    { path: '/cloud', title: 'Cloud', key: 'c', load: () => import('./screens/cloud/screen.tsx') },
  ),
  ...inGroup(
    'Console',
    {
      path: '/settings',
      title: 'Settings',
      key: 's',
      role: 'admin',
      load: () => import('./screens/settings/screen.tsx'),
    },
    { path: '/access', title: 'Access', key: 'u', load: () => import('./screens/access/screen.tsx') },
  ),
  { path: '/jobs/$id', title: 'Job', load: () => import('./screens/job/screen.tsx') },
  { path: '/runs/$id', title: 'Run', load: () => import('./screens/run/screen.tsx') },
  { path: '/findings/$id', title: 'Finding', load: () => import('./screens/finding/screen.tsx') },
  { path: '/assets/$id', title: 'Asset', load: () => import('./screens/asset/screen.tsx') },
  { path: '/hosts/$host', title: 'Host', load: () => import('./screens/host/screen.tsx') },
  { path: '/workflows/$name', title: 'Workflow', load: () => import('./screens/workflow/screen.tsx') },
  { path: '/workers/$id', title: 'Worker', load: () => import('./screens/worker/screen.tsx') },
]
