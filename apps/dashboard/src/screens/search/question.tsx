import { formatNumber } from '../../ui/numbers.js'
import type { Explanation } from './queries.js'
import styles from './search.module.css'

const shares = { keyword: 'words', semantic: 'meaning', grams: 'letters' } as const

/** The interpretation of the question by search. */
export function Question({ question }: { question: Explanation['question'] }) {
  const { terms, weights, evidence, isVague, minimum } = question
  const used = (Object.keys(shares) as (keyof typeof shares)[]).filter((name) => weights[name] > 0)
  return (
    <details className={styles.why}>
      <summary>How the question was understood</summary>
      {isVague && <p>It consists only of words that occur everywhere: scores are at most 0.20.</p>}
      <p>
        {used.length === 0
          ? 'No retriever found anything.'
          : `Compared by ${used.map((name) => `${shares[name]} ${Math.round(weights[name] * 100)} %`).join(', ')}.`}
        {weights.semantic === 0 && ' Meaning is not compared.'} Evidence {evidence.toFixed(2)},
        lowest score {minimum.toFixed(2)}.
      </p>
      <ul className={styles.terms}>
        {terms.map(({ term, weight, passages, substitutes }) => (
          <li key={term}>
            <strong>{term}</strong>{' '}
            <span className="muted">
              {Math.round(weight * 100)} % of the question, in {formatNumber(passages)}{' '}
              {passages === 1 ? 'passage' : 'passages'}
              {substitutes.length > 0 &&
                `; also ${substitutes
                  .slice(0, 12)
                  .map(({ word }) => word)
                  .join(', ')}${substitutes.length > 12 ? ' …' : ''}`}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
