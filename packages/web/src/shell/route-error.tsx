import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { outage, useOutage } from '../live/outage.ts'
import { Button, EmptyState, ErrorPanel, Page } from '../ui/index.ts'

/** The code of a screen could not be loaded: the server does not answer, or has another console. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded'

  constructor(cause: unknown) {
    super('this part of the console could not be loaded', { cause })
  }
}

const reload = () => window.location.reload()

/** Nothing of the screen was shown, so loading the page again loses nothing. */
const Missing = () => {
  const since = useOutage()
  const waited = useRef(false)
  useEffect(() => outage.suspect(), [])
  useEffect(() => {
    if (since !== undefined) waited.current = true
    else if (waited.current) reload()
  }, [since])
  return since === undefined ? (
    <EmptyState title="This part of the console could not be loaded">
      <p>The server may have a newer console.</p>
      <Button onClick={reload}>Load the page again</Button>
    </EmptyState>
  ) : (
    <EmptyState title="This screen is not loaded yet">It opens when the server answers.</EmptyState>
  )
}

export const RouteError = ({ error }: { error: unknown }) => {
  const router = useRouter()
  return (
    <Page title="Error">
      {error instanceof NotLoaded ? (
        <Missing />
      ) : (
        <ErrorPanel error={error} onRetry={() => void router.invalidate()} />
      )}
    </Page>
  )
}
