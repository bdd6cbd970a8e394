import { Link } from '@tanstack/react-router'
import { Folder } from 'lucide-react'
import { usePathTo } from '../../api/address.js'
import { Name } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import styles from './files.module.css'
import { partsOf, trailOf } from './keys.js'
import { useFolders } from './queries.js'

/** The path of the listed folder, and the folders below it: common beginnings of keys up to a `/`. */
export function Folders({ prefix }: { prefix: string }) {
  const pathTo = usePathTo()
  const { data } = useFolders(prefix)
  const folders = data?.folders ?? []
  const linkTo = (to: string) => ({
    to: pathTo('files'),
    search: (before: object) => ({ ...before, prefix: to === '' ? undefined : to, new: undefined }),
  })
  if (prefix === '' && folders.length === 0) return null
  const trail = trailOf(prefix)
  return (
    <nav className={styles.folders} aria-label="Folders">
      <span className={styles.trail}>
        <Link {...linkTo('')} aria-current={prefix === '' ? 'page' : undefined}>
          All files
        </Link>
        {trail.map((step) => (
          <span key={step.prefix}>
            {' / '}
            <Link
              {...linkTo(step.prefix)}
              aria-current={step.prefix === prefix ? 'page' : undefined}
            >
              <Name>{step.name || '(no name)'}</Name>
            </Link>
          </span>
        ))}
      </span>
      {folders.length > 0 && (
        <ul>
          {folders.map((folder) => (
            <li key={folder.prefix}>
              <Link {...linkTo(folder.prefix)} className={styles.folder ?? ''}>
                <Folder size={14} aria-hidden="true" />
                <Name>{partsOf(folder.prefix.slice(0, -1)).name || '(no name)'}</Name>
                <span className="muted">{formatNumber(folder.files)}</span>
              </Link>
            </li>
          ))}
          {data?.meta.nextToken !== undefined && (
            <li className="muted">and more: filter by key to find them</li>
          )}
        </ul>
      )}
    </nav>
  )
}
