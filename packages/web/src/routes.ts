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

export const ROUTES: readonly ScreenRoute[] = [
  { path: '/', title: 'Nights', key: 'o', group: '', load: () => import('./screens/overview/screen.tsx') },
  { path: '/jobs', title: 'Jobs', key: 'j', group: 'Work', load: () => import('./screens/jobs/screen.tsx') },
  { path: '/jobs/$id', title: 'Job', load: () => import('./screens/job/screen.tsx') },
  { path: '/runs', title: 'Runs', key: 'r', group: 'Work', load: () => import('./screens/runs/screen.tsx') },
  { path: '/runs/$id', title: 'Run', load: () => import('./screens/run/screen.tsx') },
  {
    path: '/queue',
    title: 'Queue',
    key: 'q',
    group: 'Work',
    load: () => import('./screens/queue/screen.tsx'),
  },
  {
    path: '/findings',
    title: 'Findings',
    key: 'f',
    group: 'Results',
    load: () => import('./screens/findings/screen.tsx'),
  },
  {
    path: '/rules',
    title: 'Rules',
    key: 'l',
    group: 'Results',
    load: () => import('./screens/rules/screen.tsx'),
  },
  { path: '/findings/$id', title: 'Finding', load: () => import('./screens/finding/screen.tsx') },
  {
    path: '/assets',
    title: 'Assets',
    key: 'a',
    group: 'Results',
    load: () => import('./screens/assets/screen.tsx'),
  },
  { path: '/assets/$id', title: 'Asset', load: () => import('./screens/asset/screen.tsx') },
  { path: '/hosts/$host', title: 'Host', load: () => import('./screens/host/screen.tsx') },
  {
    path: '/changes',
    title: 'Changes',
    key: 'n',
    group: 'Results',
    load: () => import('./screens/changes/screen.tsx'),
  },
  {
    path: '/workflows',
    title: 'Workflows',
    key: 'w',
    group: 'Automation',
    load: () => import('./screens/workflows/screen.tsx'),
  },
  { path: '/workflows/$name', title: 'Workflow', load: () => import('./screens/workflow/screen.tsx') },
  {
    path: '/triggers',
    title: 'Schedules & triggers',
    key: 't',
    group: 'Automation',
    load: () => import('./screens/triggers/screen.tsx'),
  },
  {
    path: '/events',
    title: 'Events',
    key: 'e',
    group: 'Automation',
    load: () => import('./screens/events/screen.tsx'),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    key: 'h',
    role: 'admin',
    group: 'Automation',
    load: () => import('./screens/webhooks/screen.tsx'),
  },
  {
    path: '/scopes',
    title: 'Scopes',
    key: 'p',
    group: 'Automation',
    load: () => import('./screens/scopes/screen.tsx'),
  },
  {
    path: '/workers',
    title: 'Workers',
    key: 'k',
    group: 'Farm',
    load: () => import('./screens/workers/screen.tsx'),
  },
  { path: '/workers/$id', title: 'Worker', load: () => import('./screens/worker/screen.tsx') },
  {
    path: '/cloud',
    title: 'Cloud',
    key: 'c',
    group: 'Farm',
    load: () => import('./screens/cloud/screen.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    key: 's',
    role: 'admin',
    group: 'Console',
    load: () => import('./screens/settings/screen.tsx'),
  },
  {
    path: '/access',
    title: 'Access',
    key: 'u',
    group: 'Console',
    load: () => import('./screens/access/screen.tsx'),
  },
]
