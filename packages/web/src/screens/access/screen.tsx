import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useRefusal } from '../../api/role.ts'
import { sessionQuery } from '../../api/session.ts'
import { OnlyFor, Page, tab, UrlTabs, type CommandLine } from '../../ui/index.ts'
import { Audit } from './audit.tsx'
import { Logins } from './logins.tsx'
import { Tokens } from './tokens.tsx'
import { Users } from './users.tsx'

const LINES: readonly CommandLine[] = [
  { title: 'List the API tokens', cli: ['token', 'list'], api: ['GET', '/tokens'] },
  {
    title: 'Create an API token',
    cli: ['token', 'create', 'NAME', '--role', 'operator', '--days', '90'],
    api: ['POST', '/tokens', { name: 'NAME', role: 'operator' }],
  },
  { title: 'Delete an API token', cli: ['token', 'remove', 'ID'], api: ['DELETE', '/tokens/ID'] },
  { title: 'List the users', api: ['GET', '/users'] },
  { title: 'List who changed what', api: ['GET', '/audit'] },
  { title: 'Open this console, logged in', cli: ['open'], api: ['POST', '/session/links'] },
]

export const Screen = () => {
  const { data: me } = useQuery(sessionQuery)
  const refusal = useRefusal('admin')
  const forAdmins = (content: ReactElement) => (
    <OnlyFor needs="admin" title="Only administrators see this">
      {content}
    </OnlyFor>
  )
  return (
    <Page title="Access" commands={LINES}>
      <p>
        {me ? (
          <>
            You are the {me.kind === 'token' ? 'API token' : 'user'} <strong>{me.name}</strong> with the role{' '}
            <strong>{me.role}</strong>.
          </>
        ) : null}
      </p>
      <UrlTabs
        first={refusal === undefined ? 'tokens' : 'logins'}
        label="Parts of access"
        tabs={[
          tab('tokens', 'API tokens', forAdmins(<Tokens />)),
          tab('users', 'Users', forAdmins(<Users />)),
          tab('audit', 'Audit', forAdmins(<Audit />)),
          tab('logins', 'My logins', <Logins />),
        ]}
      />
    </Page>
  )
}
