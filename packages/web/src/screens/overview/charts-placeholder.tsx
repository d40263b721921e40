/** Keeps the space of the charts. */
export const ChartsPlaceholder = () => (
  <div className="charts" role="status" aria-busy="true" aria-label="Loading the charts">
    <div className="chart-placeholder" />
    <div className="chart-placeholder" />
  </div>
)
