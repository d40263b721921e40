/** Keeps the place of the charts. */
export const ChartsPlace = () => (
  <div className="charts" role="status" aria-busy="true" aria-label="Loading the charts">
    <div className="chart-place" />
    <div className="chart-place" />
  </div>
)
