import { use, useEffect, type ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { Button } from './button.tsx'
import { FormErrors, panelTexts } from './forms/form-errors.ts'

export const usePageTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Scanfarm`
  }, [title])
}

interface PageProps {
  readonly title: string
  /** Shown instead of the title. */
  readonly heading?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export const Page = ({ title, heading, actions, children }: PageProps) => {
  usePageTitle(title)
  return (
    <div className="page stack gap-16">
      <header className="page-head line spread">
        <h1>{heading ?? title}</h1>
        <div className="page-actions line">{actions}</div>
      </header>
      {children}
    </div>
  )
}

/** Says why there is nothing, and what to do next. */
export const EmptyState = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    <div>{children}</div>
  </div>
)

export const ErrorPanel = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => {
  const known = error instanceof ApiError
  const { text, others } = panelTexts(error, use(FormErrors))
  return (
    <div className="error-panel" role="alert">
      <p>{text}</p>
      {others.length > 0 ? (
        <ul>
          {others.map((other) => (
            <li key={other}>{other}</li>
          ))}
        </ul>
      ) : null}
      {known && error.requestId !== '' ? <p className="muted">Request {error.requestId}</p> : null}
      {onRetry ? <Button onClick={onRetry}>Try again</Button> : null}
    </div>
  )
}

export const Progress = ({ value, max, label }: { value: number; max: number; label: string }) => (
  <progress className="progress" value={value} max={Math.max(max, 1)} aria-label={label} />
)

/** Keeps the place of lines that are loading. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div className="skeleton stack" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} />
    ))}
  </div>
)

interface LoadedProps<T> {
  /** What `useQuery` returns. */
  readonly query: {
    readonly data: T | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly children: (data: T) => ReactNode
}

/** Content that is read; until then lines in its place, or why it cannot be read. */
export const Loaded = <T,>({ query: { data, error, refetch }, children }: LoadedProps<T>) => {
  if (data !== undefined) return <>{children(data)}</>
  return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />
}

/** The page of one record; `name` is its title until the record is read. */
export const RecordPage = <T,>({ name, ...loaded }: LoadedProps<T> & { name: string }) =>
  loaded.query.data === undefined ? (
    <Page title={name}>
      <Loaded {...loaded} />
    </Page>
  ) : (
    <Loaded {...loaded} />
  )
