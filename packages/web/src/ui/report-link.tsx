interface ReportLinkProps {
  readonly of: 'jobs' | 'schedules' | 'workspaces'
  readonly id: string
  /** Tells several reports on one screen apart. */
  readonly name?: string
}

/** The page for a person, which is printed or sent. */
export const ReportLink = ({ of, id, name }: ReportLinkProps) => (
  <a
    href={`/api/reports/${of}/${encodeURIComponent(id)}`}
    target="_blank"
    rel="noreferrer noopener"
    aria-label={name === undefined ? undefined : `Report of ${name}`}
  >
    report
  </a>
)
