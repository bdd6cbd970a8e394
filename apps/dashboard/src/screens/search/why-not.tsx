import { Link } from '@tanstack/react-router'
import { usePathTo } from '../../api/address.js'
import { Name } from '../../ui/name.js'
import { Status } from '../../ui/status.js'
import { foundOfTarget } from './found.js'
import { outcomes } from './outcomes.js'
import { PassageCard } from './passage-card.js'
import type { Explanation } from './queries.js'
import styles from './search.module.css'

interface WhyNotProps {
  target: NonNullable<Explanation['target']>
  question: Explanation['question']
}

/** The step of the search that dropped an expected file. */
export function WhyNot({ target, question }: WhyNotProps) {
  const pathTo = usePathTo()
  const { outcome, file } = target
  const { title, advice } = outcomes[outcome]
  const best = target.passages[0]
  return (
    <section className={styles.target} aria-label={`Why not ${file.key}`}>
      <h2>
        <Link to={pathTo('files', file.id)}>
          <Name>{file.key}</Name>
        </Link>{' '}
        <Status kind={outcome === 'found' ? 'done' : 'attention'}>{title}</Status>
      </h2>
      <p>
        {advice}
        {best !== undefined &&
          ` Its best passage has rank ${best.rank} and the score ${best.score.toFixed(2)}; the lowest that is returned is ${question.minimum.toFixed(2)}.`}
      </p>
      {file.failedStatusReason !== undefined && <p>{file.failedStatusReason}</p>}
      {foundOfTarget(target).map((found) => (
        <PassageCard
          key={found.id}
          found={found}
          weights={question.weights}
          difference={
            found.outcome !== undefined &&
            found.outcome !== outcome && (
              <span className="muted">{outcomes[found.outcome].title}</span>
            )
          }
        />
      ))}
    </section>
  )
}
