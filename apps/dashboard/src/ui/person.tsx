import type { CSSProperties } from 'react'
import { shownName } from './name.js'
import styles from './person.module.css'

/** A user of a bot. */
interface User {
  id: string
  name?: string | undefined
}

/** Characters of an id that tell visitors apart: the last ones, which are random. */
const shownOfId = 3

/** The name of a user; visitors who stated none are told apart by the end of their id, as in `Visitor 7F3`. */
export function nameOfUser({ id, name }: User): string {
  return shownName(name?.trim() ?? '') || `Visitor ${id.slice(-shownOfId).toUpperCase()}`
}

/** A user by name, with an initial in a colour that is always the same. */
export function Person({ user }: { user: User }) {
  const name = nameOfUser(user)
  const [initial] = name
  return (
    <span className={styles.person}>
      <span
        className={styles.initial}
        style={{ '--hue': hueOf(user.id) } as CSSProperties}
        aria-hidden="true"
      >
        {initial?.toUpperCase()}
      </span>
      <bdi>{name}</bdi>
    </span>
  )
}

/** Degrees. Ids of one moment differ in their last characters only, so each of them counts. */
function hueOf(id: string): number {
  return [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 0)
}
