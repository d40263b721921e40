import { use, useEffect, type ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useRefusal, type Role } from '../api/role.ts'
import { Button } from './button.tsx'
import { Commands, type CommandLine } from './commands.tsx'
import { FormErrors, panelTexts } from './forms/form-errors.ts'
import { Notice } from './values/notice.tsx'

export const usePageTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Scanfarm`
  }, [title])
}

interface PageProps {
  readonly title: string
  /** Shown instead of the title. */
  readonly heading?: ReactNode
  /** The command lines that do or show what is on the screen. */
  readonly commands?: readonly CommandLine[]
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export const Page = ({ title, heading, commands, actions, children }: PageProps) => {
  usePageTitle(title)
  return (
    <div className="page stack gap-16">
      <header className="page-head line spread">
        <h1>{heading ?? title}</h1>
        <div className="page-actions line">
          {commands ? <Commands lines={commands} /> : null}
          {actions}
        </div>
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

interface OnlyForProps {
  readonly needs: Role
  /** Says to others what they do not see. */
  readonly title: string
  readonly children: ReactNode
}

export const OnlyFor = ({ needs, title, children }: OnlyForProps) => {
  const refusal = useRefusal(needs)
  return refusal === undefined ? <>{children}</> : <EmptyState title={title}>{refusal}</EmptyState>
}

export const ErrorPanel = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => {
  const known = error instanceof ApiError
  const { text, others } = panelTexts(error, use(FormErrors))
  return (
    <Notice tone="bad" className="stack gap-6 error-panel" role="alert">
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
    </Notice>
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
  /** Where the content will be; default 8. */
  readonly lines?: number
}

/** Content that is read; until then lines in its place, or why it cannot be read. */
export const Loaded = <T,>({ query: { data, error, refetch }, children, lines = 8 }: LoadedProps<T>) => {
  if (data !== undefined) return <>{children(data)}</>
  return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={lines} />
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
