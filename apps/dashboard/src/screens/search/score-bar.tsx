import { type Contributions, partsOfScore } from './found.js'
import styles from './search.module.css'

/** A score as a bar of its contributions, with the same in words below. */
export function ScoreBar({ contributions }: { contributions: Contributions }) {
  const parts = partsOfScore(contributions).filter(([, , value]) => value >= 0.005)
  return (
    <div className={styles.score}>
      <div className={styles.bar} aria-hidden="true">
        {parts.map(([part, , value]) => (
          <div key={part} className={styles[part]} style={{ width: `${value * 100}%` }} />
        ))}
      </div>
      <ul className={styles.parts} aria-label="Parts of the score">
        {parts.map(([part, name, value]) => (
          <li key={part}>
            <span className={`${styles.dot} ${styles[part]}`} aria-hidden="true" />
            {name} {value.toFixed(2)}
          </li>
        ))}
      </ul>
    </div>
  )
}
