import { Suspense, type ComponentProps } from 'react'
import { Skeleton } from '../../ui/index.ts'
import { late } from '../../ui/late.ts'

/** The viewer is a file of its own: the page appears before it. */
const LogView = late(async () => (await import('./log/log-view.tsx')).LogView)

export const Log = (props: ComponentProps<typeof LogView>) => (
  <Suspense fallback={<Skeleton lines={10} />}>
    <LogView {...props} />
  </Suspense>
)
