import { Dialog } from '../ui/dialog.js'
import { activeShortcuts } from '../ui/shortcuts.js'
import styles from './keys-dialog.module.css'

/** All keys that do something on the page that is shown. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const keys = Object.entries(activeShortcuts())
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className={styles.keys}>
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>Go to a screen, a bot or an id</dd>
        </div>
        {keys.map(([key, { label }]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
