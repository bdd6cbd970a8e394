/**
 * Encodes query fields: lists by repetition (`ids=a&ids=b`), maps with dots (`tags.color=red`) and
 * conditions below them (`tags.color.not=red`). Fields that are null or undefined are omitted. A
 * dot inside a name is percent-encoded, so that it does not read as a map separator.
 */
export function encodeQuery(members: Record<string, unknown>): string {
  return Object.entries(members)
    .flatMap(([name, value]) => encodeMember(encodeName(name), value))
    .join('&')
}

function encodeMember(path: string, value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((item) => encodeMember(path, item))
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([name, inner]) =>
      encodeMember(`${path}.${encodeName(name)}`, inner),
    )
  }
  return [`${path}=${encodeURIComponent(String(value))}`]
}

const encodeName = (name: string) => encodeURIComponent(name).replaceAll('.', '%2E')
