import type { ComponentType } from 'react'
import { DataTable, Opener, type DataTableProps } from '../../ui/index.ts'

interface CreatedListProps<T> extends DataTableProps<T> {
  readonly action: string
  /** The dialog that creates a row. */
  readonly create: ComponentType<{ onClose: () => void }>
}

/** A table below the button that adds to it. */
export const CreatedList = <T,>({ action, create: Create, ...table }: CreatedListProps<T>) => (
  <div className="stack">
    <div className="page-actions line">
      <Opener kind="primary" label={action}>
        {(close) => <Create onClose={close} />}
      </Opener>
    </div>
    <DataTable {...table} />
  </div>
)
