/** Members of payloads that people do not read. */
const unread = /^(type|value|metadata|id)$|url$|id$/i
const deepest = 6

/**
 * The readable text of a payload of any type: its texts, titles and labels, one a line.
 * @param maxLength characters at which it is cut
 */
export function textOf(payload: unknown, maxLength: number): string {
  const lines: string[] = []
  let left = maxLength
  const add = (value: unknown, depth: number): void => {
    if (left <= 0 || depth > deepest) return
    if (typeof value === 'string') {
      const line = value.slice(0, left).trim()
      if (line === '') return
      lines.push(line)
      left -= line.length + 1
    } else if (Array.isArray(value)) {
      for (const item of value) add(item, depth + 1)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (!unread.test(name)) add(member, depth + 1)
      }
    }
  }
  add(payload, 0)
  return lines.join('\n').slice(0, maxLength)
}
