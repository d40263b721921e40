/** The address as a link if it is one of the web; any other text as text. */
export const ExternalLink = ({ href }: { href: string }) => {
  const url = URL.canParse(href) ? new URL(href) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return <span className="wrap">{href}</span>
  return (
    <a className="wrap" href={url.href} target="_blank" rel="noreferrer noopener">
      {href}
    </a>
  )
}
