import styles from './evaluation.module.css'
import { measures } from './parameters.js'
import type { Run } from './queries.js'

const shown = measures.slice(0, 2)
const height = 64

/** nDCG and recall over the completed runs, oldest first. The table below has the same figures. */
export function Trend({ runs }: { runs: readonly Run[] }) {
  const means = runs.flatMap(({ summary }) => (summary === undefined ? [] : [summary.mean]))
  if (means.length < 2) return null
  const step = 1000 / (means.length - 1)
  return (
    <figure className={styles.trend}>
      <svg
        role="img"
        aria-label={`nDCG of ${means.length} runs: ${means.map(({ ndcg }) => ndcg.toFixed(2)).join(', ')}`}
        viewBox={`0 0 1000 ${height}`}
        preserveAspectRatio="none"
      >
        <line x1={0} x2={1000} y1={1} y2={1} className={styles.grid} />
        <line x1={0} x2={1000} y1={height / 2} y2={height / 2} className={styles.grid} />
        <line x1={0} x2={1000} y1={height - 1} y2={height - 1} className={styles.grid} />
        {shown.map(([name]) => (
          <polyline
            key={name}
            className={styles[name]}
            points={means
              .map((mean, index) => `${index * step},${(1 - mean[name]) * (height - 4) + 2}`)
              .join(' ')}
          />
        ))}
      </svg>
      <figcaption>
        {shown.map(([name, label]) => (
          <span key={name}>
            <span className={`${styles.key} ${styles[name]}`} aria-hidden="true" />
            {label}
          </span>
        ))}
        <span className="muted">0 to 1, over {means.length} runs</span>
      </figcaption>
    </figure>
  )
}
