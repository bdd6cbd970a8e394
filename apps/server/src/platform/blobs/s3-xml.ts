/**
 * The answers of object stores are small and flat, and every value that is read here is a key of
 * ours, a number, a time or a token: reading by element name suffices, and nothing is nested in itself.
 */

/** The text of the first element of a name, undefined when there is none. */
export function textOf(xml: string, element: string): string | undefined {
  const [, text] = new RegExp(`<${element}(?: [^>]*)?>([^<]*)</${element}>`).exec(xml) ?? []
  return text === undefined ? undefined : unescapeXml(text)
}

/** The content of every element of a name. */
export function elementsOf(xml: string, element: string): string[] {
  const all = new RegExp(`<${element}(?: [^>]*)?>(.*?)</${element}>`, 'gs')
  return [...xml.matchAll(all)].map(([, content = '']) => content)
}

/** Text as it stands between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
