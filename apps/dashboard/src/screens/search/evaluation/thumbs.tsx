import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { Button } from '../../../ui/button.js'
import type { Found } from '../found.js'
import styles from './evaluation.module.css'
import { useMarks } from './marks.js'

const size = { size: 14, 'aria-hidden': true }

/** Marks a passage as a right or wrong answer of the question. */
export function Thumbs({ found }: { found: Found }) {
  const { verdictOf, toggle } = useMarks()
  const verdict = verdictOf(found)
  return (
    <span className={styles.thumbs}>
      <Button
        kind="quiet"
        icon={<ThumbsUp {...size} />}
        aria-label="Right answer"
        title="Right answer"
        aria-pressed={verdict === 'right'}
        className={verdict === 'right' ? styles.isRight : undefined}
        onClick={() => toggle(found, 'right')}
      />
      <Button
        kind="quiet"
        icon={<ThumbsDown {...size} />}
        aria-label="Wrong answer"
        title="Wrong answer"
        aria-pressed={verdict === 'wrong'}
        className={verdict === 'wrong' ? styles.isWrong : undefined}
        onClick={() => toggle(found, 'wrong')}
      />
    </span>
  )
}
