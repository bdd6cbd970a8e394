/** The parts of a key for reading: the folders before the name, and the name. */
export function partsOf(key: string): { folder: string; name: string } {
  const end = key.lastIndexOf('/') + 1
  return { folder: key.slice(0, end), name: key.slice(end) }
}

/** The folders that lead to a prefix, the outermost first: `a/b/` has `a/` and `a/b/`. */
export function trailOf(prefix: string): { prefix: string; name: string }[] {
  const names = prefix.split('/').slice(0, -1)
  return names.map((name, index) => ({
    name,
    prefix: `${names.slice(0, index + 1).join('/')}/`,
  }))
}
