import { toSize } from './progress.js'
import type { RemoteFile } from './remote.js'

/** A file as a line of a list, and a second one that says why it failed or how far it is. */
export function toLines(file: RemoteFile): string[] {
  const size = file.size === null ? '-' : toSize(file.size)
  const line = `${file.updatedAt}  ${size.padStart(8)}  ${file.status.padEnd(18)}  ${file.key}`
  const more = file.failedStatusReason ?? describeProgress(file)
  return more === undefined ? [line] : [line, `    ${more}`]
}

/** How far the indexing of a file is, in words; undefined where it has not begun or is over. */
export function describeProgress({ indexingProgress }: RemoteFile): string | undefined {
  if (indexingProgress === undefined) return undefined
  const { percent, pages, passages, passagesTotal, attempt } = indexingProgress
  return [
    `${percent} %`,
    ...(pages === undefined ? [] : [`page ${pages}`]),
    ...(passagesTotal === undefined ? [] : [`${passages ?? 0} of ${passagesTotal} passages`]),
    ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
  ].join(', ')
}
