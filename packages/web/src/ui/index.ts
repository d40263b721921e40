export { Badge, OutcomeBadge, Severity, StatusBadge } from './badge.tsx'
export { Button, LinkButton } from './button.tsx'
export { Code, JsonView, prettyJson } from './code.tsx'
export { CommandLines, Commands, copy, CopyButton, type CommandLine } from './commands.tsx'
export type { Column } from './column.ts'
export { DataTable, type DataTableProps } from './data-table.tsx'
export { Confirm, ConfirmDialog, Dialog } from './dialog.tsx'
export { ExternalLink } from './external-link.tsx'
export { Facet, FacetedList, type FacetValue } from './facets.tsx'
export { Combobox, Field, Form, SelectField, TextField } from './field.tsx'
export { FilterBar, PRIORITY_FILTER, useFilters, type Filter } from './filters.tsx'
export { FilteredList } from './filtered-list.tsx'
export { FormActions } from './form-actions.tsx'
export { hrefWith } from './href.ts'
export { JsonField, jsonObject } from './json-field.tsx'
export { KeyValues } from './key-values.tsx'
export { linesOf } from './lines.ts'
export { Link } from './link.tsx'
export { localTimeOf, timeOfLocal } from './local-time.ts'
export { plural } from './plural.ts'
export { LongText, RawRecord } from './long-text.tsx'
export { Markdown } from './markdown.tsx'
export { Menu, type MenuItem } from './menu.tsx'
export {
  EmptyState,
  ErrorPanel,
  Loaded,
  Page,
  Progress,
  RecordPage,
  Skeleton,
  usePageTitle,
} from './page.tsx'
export { More } from './more.tsx'
export { ReportLink } from './report-link.tsx'
export { RunLink } from './run-link.tsx'
export { SavedFilters } from './saved-filters.tsx'
export { SeenBy } from './seen-by.tsx'
export { SeverityCounts, sumOf } from './severity-counts.tsx'
export { Share } from './share.tsx'
export { useShortcut } from './shortcuts.ts'
export { useQuiet } from './use-quiet.ts'
export { FindingStatus, RecordState, SEEN_COLUMNS } from './sightings.tsx'
export { StateViews } from './state-views.tsx'
export { Tabs, UrlTabs } from './tabs.tsx'
export { toast } from './toast.tsx'
export { Tooltip } from './tooltip.tsx'
export { useList } from './use-list.ts'
export { Bytes, Duration, Time, useNow } from './values.tsx'
