import { ArrowUp } from 'lucide-react'
import { useEffect } from 'react'
import { Button } from './button.js'
import styles from './new-items.module.css'
import { formatNumber } from './numbers.js'
import { useShortcuts } from './shortcuts.js'

interface NewItemsProps {
  count: number
  /** Whether there are more than were counted. */
  isMore?: boolean
  /** Nobody reads an empty list: what is new is shown at once. */
  isListEmpty?: boolean
  onShow: () => void
}

/** Says over the top of a list how many items came since it was read: what is being read stays where it is. */
export function NewItems({ count, isMore = false, isListEmpty = false, onShow }: NewItemsProps) {
  const isAtOnce = isListEmpty && count > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is another one each time
  useEffect(() => {
    if (isAtOnce) onShow()
  }, [isAtOnce])
  useShortcuts({ '.': { label: 'Show what is new', run: onShow } })
  return (
    <div className={styles.bar} role="status">
      {count > 0 && (
        <Button kind="primary" icon={<ArrowUp size={14} />} onClick={onShow}>
          {`${formatNumber(count)}${isMore ? ' or more' : ''} new`}
        </Button>
      )}
    </div>
  )
}
