import type { EntryKind } from '../../api/timeline.js'
import { Button } from '../../ui/button.js'
import styles from './conversations.module.css'

/** The layers that can be hidden, each with its kinds of entries. */
const layers: readonly { id: string; label: string; kinds: readonly EntryKind[] }[] = [
  { id: 'deliveries', label: 'Deliveries', kinds: [] },
  { id: 'events', label: 'Events', kinds: ['event', 'customEvent'] },
  { id: 'workflows', label: 'Workflows', kinds: ['workflow'] },
  { id: 'states', label: 'States', kinds: ['state', 'change'] },
  { id: 'logs', label: 'Logs', kinds: ['log'] },
  { id: 'people', label: 'People', kinds: ['participant', 'deletion'] },
]

/** The kinds of entries that are shown; messages always are. */
export function shownKinds(hide: string): EntryKind[] {
  const hidden = hide.split(',')
  const shown = layers.filter(({ id }) => !hidden.includes(id))
  return ['message', ...shown.flatMap(({ kinds }) => kinds)]
}

/** Whether the deliveries about entries are shown. */
export function showsDeliveries(hide: string): boolean {
  return !hide.split(',').includes('deliveries')
}

interface LayersProps {
  /** Ids of the hidden layers, as in the address. */
  hide: string
  change: (hide: string | undefined) => void
  isRaw: boolean
  toggleRaw: () => void
}

/** Switches for the layers of a conversation. */
export function Layers({ hide, change, isRaw, toggleRaw }: LayersProps) {
  const hidden = hide.split(',').filter((id) => id !== '')
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="What is shown">
      {layers.map(({ id, label }) => {
        const isShown = !hidden.includes(id)
        const next = isShown ? [...hidden, id] : hidden.filter((other) => other !== id)
        return (
          <Button
            key={id}
            kind="quiet"
            className={styles.layer}
            aria-pressed={isShown}
            title={isShown ? `Hide ${label.toLowerCase()}` : `Show ${label.toLowerCase()}`}
            onClick={() => change(next.length === 0 ? undefined : next.join(','))}
          >
            {label}
          </Button>
        )
      })}
      <span className={styles.spacer} />
      <Button kind="quiet" className={styles.layer} aria-pressed={isRaw} onClick={toggleRaw}>
        Raw
      </Button>
    </div>
  )
}
