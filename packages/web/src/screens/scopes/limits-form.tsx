import { limitLines, limitsOfLines } from '@scanfarm/client'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { farmLimitsQuery, type Scope } from '../../api/scopes.ts'
import { Dialog, DialogForm, lines, linesOf, Loaded } from '../../ui/index.ts'

type Limits = Scope['limits']

export const limitsField = (label: string) =>
  lines('limits', label, {
    hint: 'rate: connections or requests a second. workflow:once: of the runs of a workflow on a target one works at a time.',
    placeholder: 'address:rate=10,runs=2\nnetwork:runs=5\ndomain:rate=50\nworkflow:once',
  })

export const limitsText = (limits: Limits | undefined): string => limitLines(limits).join('\n')
export const limitsOf = (text: string | undefined): Limits => limitsOfLines(linesOf(text))

/** How much all runs together may load a host. */
export const FarmLimits = ({ onClose }: { onClose: () => void }) => (
  <Dialog keep onClose={onClose} title="Limits of all runs">
    <Loaded query={useQuery(farmLimitsQuery)}>
      {(limits) => (
        <DialogForm
          onClose={onClose}
          fields={[
            <p key="about">Runs beyond a limit wait. Scopes can have stricter limits of their own.</p>,
            [limitsField('Limits, one a line')],
          ]}
          values={{ limits: limitsText(limits) }}
          action="Save"
          refresh={['limits']}
          send={async (values) => {
            await api.PUT('/limits', { body: limitsOf(values['limits']) })
            return 'The limits are saved.'
          }}
        />
      )}
    </Loaded>
  </Dialog>
)
