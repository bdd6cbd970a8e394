/** Members of a payload: of any type, because bots may send anything. */
export type Members = Readonly<Record<string, unknown>>

export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The objects of a list; none if it is no list. */
export function objectsIn(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter((item) => Object(item) === item) : []
}

/** The members of a part of a bloc: beside its type, or below `payload` as bots write it. */
export function membersOf(item: Members): Members {
  const { payload } = item
  return Object(payload) === payload ? (payload as Members) : item
}

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

const isMedia = (type: string): type is MediaKind =>
  ['image', 'audio', 'video', 'file'].includes(type)

/** The images, recordings and files of a message, also those in a bloc. */
export function mediaIn(
  type: string,
  payload: Members,
): { kind: MediaKind; url: string; title: string | undefined }[] {
  if (type === 'bloc') {
    return objectsIn(payload.items).flatMap((item) => mediaIn(String(item.type), membersOf(item)))
  }
  if (!isMedia(type)) return []
  const { [`${type}Url`]: url, title } = payload
  return isFilled(url) ? [{ kind: type, url, title: isFilled(title) ? title : undefined }] : []
}

/** What a person does by pressing an option or a button: says or sends a value. */
export type Choose = (value: string, label: string) => void
