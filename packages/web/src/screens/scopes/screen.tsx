import { OnlyFor, Page, tab, UrlTabs, type CommandLine } from '../../ui/index.ts'
import { NeverScanList } from './never-scan.tsx'
import { Scopes } from './scopes.tsx'
import { WasItUs } from './was-it-us.tsx'

const LINES: readonly CommandLine[] = [
  { title: 'List the scopes', cli: ['scopes', 'list'], api: ['GET', '/scopes'] },
  {
    title: 'Say whether a target may be scanned',
    cli: ['scopes', 'check', 'TARGET'],
    api: ['GET', '/scope-check?target=TARGET'],
  },
  { title: 'Show the limits of all runs', cli: ['limits', 'show'], api: ['GET', '/limits'] },
  { title: 'List what no run may scan', cli: ['never-scan', 'list'], api: ['GET', '/never-scan'] },
  {
    title: 'Find the runs that may have sent traffic to a host',
    cli: ['was-it-us', 'ADDRESS'],
    api: ['GET', '/traffic?address=ADDRESS'],
  },
]

/** What may be scanned, what never is, and who sent what. */
export const Screen = () => (
  <Page title="Scopes" commands={LINES}>
    <UrlTabs
      label="Parts of the page"
      tabs={[
        tab('scopes', 'Scopes', <Scopes />),
        tab(
          'never-scan',
          'Never scan',
          <OnlyFor needs="operator" title="The never-scan list is for operators">
            <NeverScanList />
          </OnlyFor>,
        ),
        tab('was-it-us', 'Was that us?', <WasItUs />),
      ]}
    />
  </Page>
)
