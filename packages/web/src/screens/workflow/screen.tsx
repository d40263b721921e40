import { EmptyState, Page } from '../../ui/index.ts'

export const Screen = () => (
  <Page title="Workflow">
    <EmptyState title="This screen is being built">
      Use the command line or the API until it is here.
    </EmptyState>
  </Page>
)
